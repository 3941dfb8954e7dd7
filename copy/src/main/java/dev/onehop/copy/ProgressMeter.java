package dev.onehop.copy;

import dev.onehop.copy.internal.cluster.OperationsBehind;
import dev.onehop.copy.internal.full.Counts;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/** Knows how far a run is. Thread-safe. */
final class ProgressMeter {
  private static final long WINDOW = TimeUnit.SECONDS.toNanos(10);

  private final String job;
  private final Counts counts;
  private final Set<String> notes = new LinkedHashSet<>();
  private final Deque<Sample> samples = new ArrayDeque<>();
  private CopyPhase phase = CopyPhase.START;
  private boolean paused;
  private int collections;
  private @Nullable BsonTimestamp start;
  private long events;
  private @Nullable Duration lag;
  private @Nullable BsonTimestamp applied;
  private @Nullable OperationsBehind operations;
  private @Nullable BsonTimestamp consistentFrom;

  private record Sample(long nanos, long documents, long bytes) {}

  ProgressMeter(String job, Counts counts) {
    this.job = job;
    this.counts = counts;
  }

  synchronized void note(String text) {
    notes.add(text);
  }

  synchronized void began(int number, BsonTimestamp time) {
    collections = number;
    start = time;
  }

  /**
   * Operations of the source are counted.
   *
   * @param time up to which all events are applied
   */
  synchronized void counting(OperationsBehind counted, BsonTimestamp time) {
    operations = counted;
    applied = time;
  }

  synchronized void phase(CopyPhase now) {
    phase = now;
    samples.clear();
  }

  /** All that was asked for is done; what comes next is a phase that was not. */
  synchronized void ended(CopyPhase next) {
    if (next != CopyPhase.DONE) {
      note("next is the phase " + next.name().toLowerCase(java.util.Locale.ROOT));
    }
    phase(CopyPhase.DONE);
  }

  /**
   * How far events are applied.
   *
   * @param time up to which all are
   * @param behind how far the destination is behind
   * @param exactFrom as of {@link CopyProgress#consistentFrom}
   */
  synchronized void applied(
      long number, BsonTimestamp time, Duration behind, @Nullable BsonTimestamp exactFrom) {
    events = number;
    applied = time;
    lag = behind;
    consistentFrom = exactFrom;
  }

  synchronized void paused(boolean rests) {
    paused = rests;
  }

  synchronized CopyProgress progress() {
    Sample now = new Sample(System.nanoTime(), counts.documentsDone(), counts.bytesDone());
    samples.add(now);
    while (samples.size() > 2 && now.nanos() - samples.getFirst().nanos() > WINDOW) {
      samples.removeFirst();
    }
    Sample first = samples.getFirst();
    double seconds = (now.nanos() - first.nanos()) / 1e9;
    double rate = seconds > 0 ? (now.documents() - first.documents()) / seconds : 0;
    long left = counts.documents() - now.documents();
    return new CopyProgress(
        job,
        phase,
        paused,
        collections,
        counts.ranges(),
        counts.rangesDone(),
        counts.documents(),
        now.documents(),
        now.bytes(),
        rate,
        seconds > 0 ? (now.bytes() - first.bytes()) / seconds : 0,
        counts.rangesReadAgain(),
        events,
        lag(),
        lagOperations(),
        consistentFrom,
        phase == CopyPhase.FULL && rate > 0
            ? Duration.ofSeconds((long) Math.ceil(Math.max(0, left) / rate))
            : null,
        java.util.List.copyOf(notes));
  }

  /** Before the first event is applied, all since the start are missing. */
  private Duration lag() {
    if (lag != null) {
      return lag;
    }
    if (start == null) {
      return Duration.ZERO;
    }
    long seconds = System.currentTimeMillis() / 1_000 - start.getTime();
    return Duration.ofSeconds(Math.max(0, seconds));
  }

  private @Nullable Long lagOperations() {
    return operations == null || applied == null ? null : operations.since(applied);
  }

  /** What others read of it in the job's document. */
  synchronized BsonDocument document() {
    CopyProgress now = progress();
    Long behind = now.lagOperations();
    BsonTimestamp time = applied;
    return new BsonDocument("phase", new BsonString(now.phase().name()))
        .append("ranges", new BsonInt64(now.ranges()))
        .append("rangesDone", new BsonInt64(now.rangesDone()))
        .append("documents", new BsonInt64(now.documents()))
        .append("documentsDone", new BsonInt64(now.documentsDone()))
        .append("bytesDone", new BsonInt64(now.bytesDone()))
        .append("rangesReadAgain", new BsonInt64(now.rangesReadAgain()))
        .append("eventsApplied", new BsonInt64(now.eventsApplied()))
        .append("lagSeconds", new BsonDouble(now.lag().toMillis() / 1_000.0))
        .append("lagOperations", behind == null ? BsonNull.VALUE : new BsonInt64(behind))
        .append("applied", time == null ? BsonNull.VALUE : time);
  }
}
