package dev.onehop.measure.report;

import dev.onehop.measure.results.Detour;

/** The predicted detour beside the measured one, in a sentence. */
final class DetourText {

  private DetourText() {}

  static String of(Detour detour) {
    String predicted =
        "detour through the nearest router: predicted "
            + Format.ofMillis(detour.predictedMillis())
            + " ms";
    Double measured = detour.measuredMillis();
    return measured == null
        ? predicted + ", not measured (needs async and targeted-async)"
        : predicted
            + ", measured "
            + Format.ofMillis(measured)
            + " ms (mean latency of async less targeted-async, threads: "
            + detour.threads()
            + ")";
  }

  /** The same as a sentence. */
  static String sentence(Detour detour) {
    String text = of(detour);
    return Character.toUpperCase(text.charAt(0)) + text.substring(1) + ".";
  }
}
