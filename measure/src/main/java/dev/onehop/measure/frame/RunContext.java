package dev.onehop.measure.frame;

import dev.onehop.measure.results.MachineFacts;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;

/**
 * Facts of a run that its results include. Immutable.
 *
 * @param out the folder of results and logs
 * @param started when the run started
 * @param command the command line that repeats it
 */
public record RunContext(Path out, MachineFacts machine, String started, String command) {

  /**
   * The context of a run that starts now on this machine.
   *
   * @param home the project's folder, for its revision
   */
  public static RunContext of(Path out, Path home, String command) {
    return new RunContext(out, Machine.facts(home), now(), command);
  }

  /** The present time in the format of results. */
  public static String now() {
    return OffsetDateTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS).toString();
  }
}
