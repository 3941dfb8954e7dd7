package dev.onehop.measure.report;

import dev.onehop.measure.results.Ratio;
import dev.onehop.measure.results.Ratio.Claim;
import dev.onehop.measure.results.Ratios;
import dev.onehop.measure.results.Results;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Every client beside the best official one, and what the rounds allow to say. */
final class RatioTable {

  static final String NOTE =
      "ratio: geometric mean over the rounds; the 95 % interval is a percentile bootstrap over pairs"
          + " of rounds. Where it includes 1, no difference is shown.";

  private RatioTable() {}

  /** The rows with their header; none if nothing is compared. */
  static List<List<String>> rows(Results results) {
    if (results.ratios().isEmpty()) {
      return List.of();
    }
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "client", "conns", "at", "of", "best official", "conns", "ratio", "95 %", "that is"));
    for (Ratio ratio : results.ratios()) {
      rows.add(
          List.of(
              ResultsTable.name(ratio.client(), null),
              String.valueOf(ratio.client().connections()),
              ratio.threads() == null
                  ? Format.rate(ratio.rate()) + "/s"
                  : ratio.threads() + " threads",
              ratio.metric(),
              ratio.peer().mode(),
              String.valueOf(ratio.peer().connections()),
              number(ratio.ratio()),
              ratio.low() == null || ratio.high() == null
                  ? Format.NONE
                  : number(ratio.low()) + "-" + number(ratio.high()),
              claim(ratio)));
    }
    return rows;
  }

  private static String claim(Ratio ratio) {
    Claim claim = ratio.claim();
    return switch (claim) {
      case HIGHER -> "higher";
      case LOWER -> "lower";
      case NO_DIFFERENCE_SHOWN -> "no difference shown";
      case TOO_FEW_ROUNDS ->
          ratio.rounds()
              + (ratio.rounds() == 1 ? " round" : " rounds")
              + ": no interval below "
              + Ratios.LEAST_ROUNDS;
    };
  }

  private static String number(double ratio) {
    return String.format(Locale.ROOT, "%.2f", ratio);
  }
}
