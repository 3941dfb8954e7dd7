package dev.onehop.measure.report;

import dev.onehop.measure.results.Ratio;
import dev.onehop.measure.results.Ratios;
import java.util.List;

/**
 * The section that compares every client with the best official client. The rounds show whether a
 * difference is significant.
 */
final class RatioSection {

  private RatioSection() {}

  /** Returns the section; empty if there is no comparison. */
  static Section of(List<Ratio> ratios) {
    return new Section("ratios", "Compared with the best official client")
        .table(
            new Columns<>("", ratios)
                .text("client", each -> each.client().name())
                .of("conns", Format::whole, each -> each.client().connections())
                .text("at", RatioSection::at)
                .text("of", Ratio::metric)
                .text("best official", each -> each.peer().mode())
                .of("conns", Format::whole, each -> each.peer().connections())
                .of("ratio", Format::hundredths, Ratio::ratio)
                .means(
                    "figure of this client / figure of the best official client, geometric mean"
                        + " over the rounds")
                .text("95 %", RatioSection::interval)
                .means(
                    "95 % interval of the ratio, by a percentile bootstrap over pairs of rounds. An"
                        + " interval that includes 1 shows no difference")
                .missingIf("an interval needs " + Ratios.LEAST_ROUNDS + " rounds")
                .text("that is", RatioSection::verdict));
  }

  private static String at(Ratio ratio) {
    return ratio.threads() == null
        ? Format.rate(ratio.rate()) + "/s"
        : ratio.threads() + " threads";
  }

  private static String interval(Ratio ratio) {
    return ratio.low() == null
        ? Format.NONE
        : Format.hundredths(ratio.low()) + "-" + Format.hundredths(ratio.high());
  }

  private static String verdict(Ratio ratio) {
    return switch (ratio.claim()) {
      case HIGHER -> "higher";
      case LOWER -> "lower";
      case NO_DIFFERENCE_SHOWN -> "no difference shown";
      case TOO_FEW_ROUNDS ->
          Format.counted(ratio.rounds(), "round") + ": an interval needs " + Ratios.LEAST_ROUNDS;
    };
  }
}
