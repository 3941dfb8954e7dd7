package dev.onehop.measure.frame;

import dev.onehop.measure.results.MachineFacts;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;

/**
 * Facts of a run that are a part of its results. Immutable.
 *
 * @param out the folder of results and logs
 * @param started the start of the run, in ISO-8601 with offset
 * @param command the command line that repeats the run
 */
public record RunContext(Path out, MachineFacts machine, String started, String command) {

  /**
   * Creates the context of a run that starts now on this machine.
   *
   * @param home the project's folder, whose git revision is one of the facts
   */
  public static RunContext of(Path out, Path home, String command) {
    String now =
        OffsetDateTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS).toString();
    return new RunContext(out, Machine.facts(home), now, command);
  }
}
