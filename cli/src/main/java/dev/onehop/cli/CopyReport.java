package dev.onehop.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import dev.onehop.resync.Progress;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The progress of a copy, as text and as JSON. */
final class CopyReport {
  private CopyReport() {}

  /** The progress within the phase, in one line. */
  static String state(CopyProgress now) {
    String state =
        switch (now.phase()) {
          case FULL ->
              String.format(
                  Locale.ROOT,
                  "%,d of about %,d documents, %,.0f/s, %,.1f MB/s | range %d of %d%s",
                  now.documentsDone(),
                  now.documents(),
                  now.documentsPerSecond(),
                  now.bytesPerSecond() / 1e6,
                  now.rangesDone(),
                  now.ranges(),
                  operations(now, " | %,d operations at the source since the start"));
          case INCREMENTAL ->
              String.format(
                  Locale.ROOT,
                  "%,d events applied, %,.0f/s | %s%s%s",
                  now.eventsApplied(),
                  now.eventsPerSecond(),
                  behind(now),
                  now.left() == null ? "" : ", catches up in about " + Progress.about(now.left()),
                  now.consistentFrom() == null ? " | not consistent yet" : "");
          default ->
              now.doing() != null
                  ? now.doing()
                  : now.phase() == CopyPhase.FINISH ? behind(now) : "";
        };
    Duration oplog = now.oplogLeft();
    String scarce =
        oplog != null && oplog.compareTo(now.lag()) < 0
            ? " | oplog lasts " + Progress.about(oplog)
            : "";
    return state + scarce + (now.paused() ? " | paused" : "");
  }

  private static String behind(CopyProgress now) {
    return String.format(
        Locale.ROOT,
        "%.1f s%s behind",
        now.lag().toMillis() / 1000.0,
        operations(now, ", %,d operations"));
  }

  /**
   * The time until the end of the phase; null for the incremental phase, which {@code finish} ends.
   */
  static @Nullable Duration left(CopyProgress now) {
    return now.phase() == CopyPhase.INCREMENTAL ? null : now.left();
  }

  private static String operations(CopyProgress now, String format) {
    Long operations = now.lagOperations();
    return operations == null ? "" : String.format(Locale.ROOT, format, operations);
  }

  static String json(CopyProgress now) {
    ObjectNode result =
        new ObjectMapper()
            .createObjectNode()
            .put("job", now.job())
            .put("phase", name(now.phase()))
            .put("paused", now.paused())
            .put("collections", now.collections())
            .put("ranges", now.ranges())
            .put("rangesDone", now.rangesDone())
            .put("rangesReadAgain", now.rangesReadAgain())
            .put("documents", now.documents())
            .put("documentsDone", now.documentsDone())
            .put("bytesDone", now.bytesDone())
            .put("documentsPerSecond", now.documentsPerSecond())
            .put("bytesPerSecond", now.bytesPerSecond())
            .put("eventsApplied", now.eventsApplied())
            .put("eventsPerSecond", now.eventsPerSecond())
            .put("lagSeconds", seconds(now.lag()))
            .put("lagOperations", now.lagOperations())
            .put("lagSecondsAtFinish", seconds(now.lagAtFinish()))
            .put("consistent", now.consistentFrom() != null)
            .put("oplogSecondsLeft", seconds(now.oplogLeft()))
            .put("doing", now.doing());
    Duration left = now.left();
    if (left != null) {
      result.put("secondsLeft", left.toSeconds());
    }
    ObjectNode times = result.putObject("seconds");
    now.times().forEach((phase, time) -> times.put(name(phase), seconds(time)));
    ArrayNode notes = result.putArray("notes");
    now.notes().forEach(notes::add);
    return result.toString();
  }

  static @Nullable Double seconds(@Nullable Duration time) {
    return time == null ? null : time.toMillis() / 1000.0;
  }

  static String name(CopyPhase phase) {
    return phase.name().toLowerCase(Locale.ROOT);
  }

  /** The summary of a copy that has ended. */
  static void print(PrintWriter out, CopyProgress done) {
    if (done.ranges() > 0) {
      out.printf(Locale.ROOT, "collections  %,d%n", done.collections());
      out.printf(
          Locale.ROOT,
          "documents    %,d, %,.1f MB; %,.0f/s, %,.1f MB/s%n",
          done.documentsDone(),
          done.bytesDone() / 1e6,
          done.documentsPerSecond(),
          done.bytesPerSecond() / 1e6);
      out.printf(
          Locale.ROOT,
          "ranges       %,d, %,d of them read again%n",
          done.ranges(),
          done.rangesReadAgain());
    }
    if (done.eventsApplied() > 0) {
      out.printf(Locale.ROOT, "changes      %,d applied by this process%n", done.eventsApplied());
    }
    out.println(
        "seconds      "
            + done.times().entrySet().stream()
                .map(each -> name(each.getKey()) + " " + seconds(each.getValue()))
                .collect(Collectors.joining(", ")));
    Duration lag = done.lagAtFinish();
    if (lag != null) {
      out.printf(
          Locale.ROOT,
          "cut-over     the lag was %s s when finish began; finish took %s s%n",
          seconds(lag),
          seconds(done.times().get(CopyPhase.FINISH)));
    }
    done.notes().forEach(note -> out.println("note         " + note));
    out.println(done.phase() == CopyPhase.DONE ? "done" : "not done");
  }
}
