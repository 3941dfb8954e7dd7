package dev.onehop.copy;

import dev.onehop.copy.internal.cluster.OperationsBehind;
import dev.onehop.copy.internal.cluster.OplogWindow;
import dev.onehop.copy.internal.full.Counts;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** Collects the progress of a run. Thread-safe. */
final class ProgressMeter {
  private static final long WINDOW = TimeUnit.SECONDS.toNanos(10);

  /** The part of a phase, from 0 to 1, that must be done before the remaining time is estimated. */
  private static final double LEAST_PART = 0.01;

  private static final Duration CAUGHT_UP = Duration.ofSeconds(5);

  private final String job;
  private final Counts counts;
  private final LongSupplier nanoTime;
  private final Set<String> notes = new LinkedHashSet<>();
  private final Deque<Sample> samples = new ArrayDeque<>();
  private final Map<CopyPhase, Duration> times = new EnumMap<>(CopyPhase.class);
  private CopyPhase phase = CopyPhase.START;
  private long phaseBegun;
  private Steps steps = new Steps(0, 0);
  private boolean paused;
  private int collections;
  private @Nullable BsonTimestamp start;
  private long events;
  private @Nullable Duration lag;
  private @Nullable Duration lagAtFinish;
  private @Nullable OplogWindow window;
  private @Nullable BsonTimestamp applied;
  private @Nullable OperationsBehind operations;
  private @Nullable BsonTimestamp consistentFrom;

  private record Sample(long nanos, long documents, long bytes, long events, long lagMillis) {}

  /** The successive steps of a phase, each with a weight. */
  private static final class Steps {
    private final double all;
    private final long begun;
    private double done;
    private double present;
    private double share;
    private @Nullable String doing;

    Steps(double all, long begun) {
      this.all = all;
      this.begun = begun;
    }

    void next(String what, double weight) {
      done += present;
      present = weight;
      share = 0;
      doing = what;
    }

    @Nullable String text() {
      return share == 0 ? doing : "%s, %d %%".formatted(doing, (int) (share * 100));
    }

    double part() {
      return all == 0 ? 0 : (done + present * share) / all;
    }
  }

  ProgressMeter(String job, Counts counts, LongSupplier nanoTime) {
    this.job = job;
    this.counts = counts;
    this.nanoTime = nanoTime;
    this.phaseBegun = nanoTime.getAsLong();
  }

  synchronized void note(String text) {
    notes.add(text);
  }

  synchronized void began(int number, BsonTimestamp time) {
    collections = number;
    start = time;
  }

  /** Continues from the {@link #document} that an earlier process has stored. */
  synchronized void resumed(BsonDocument earlier) {
    BsonDocument seconds = earlier.getDocument("seconds", new BsonDocument());
    for (CopyPhase each : CopyPhase.values()) {
      if (seconds.get(name(each)) instanceof BsonDouble spent) {
        times.merge(each, Duration.ofMillis((long) (spent.getValue() * 1_000)), Duration::plus);
      }
    }
  }

  /**
   * Starts to report the number of the source's operations that are not applied yet.
   *
   * @param time the time up to which all events are applied
   */
  synchronized void counting(OperationsBehind counted, BsonTimestamp time) {
    operations = counted;
    applied = time;
  }

  synchronized void phase(CopyPhase now) {
    if (now == phase) {
      return;
    }
    long nanos = nanoTime.getAsLong();
    times.merge(phase, Duration.ofNanos(nanos - phaseBegun), Duration::plus);
    if (now == CopyPhase.FINISH) {
      lagAtFinish = lag;
    }
    phase = now;
    phaseBegun = nanos;
    steps = new Steps(0, nanos);
    samples.clear();
  }

  synchronized CopyPhase phase() {
    return phase;
  }

  /**
   * Called when all phases of the settings are done.
   *
   * @param next the phase that the job would run next; {@link CopyPhase#DONE} if none
   */
  synchronized void ended(CopyPhase next) {
    if (next != CopyPhase.DONE) {
      note("the next phase is " + name(next));
    }
    phase(CopyPhase.DONE);
  }

  /**
   * Starts the steps of a phase.
   *
   * @param weights the sum of the weights of all steps
   */
  synchronized void steps(double weights) {
    steps = new Steps(weights, nanoTime.getAsLong());
  }

  /** Begins the next step. */
  synchronized void step(String doing, double weight) {
    steps.next(doing, weight);
  }

  /** Sets the part of the step that is done, from 0 to 1. It never decreases. */
  synchronized void share(double done) {
    steps.share = Math.max(steps.share, done);
  }

  /**
   * Sets the oplog window of the shard whose oplog keeps changes for the shortest time; null if it
   * is unknown.
   */
  synchronized void window(@Nullable OplogWindow shortest) {
    window = shortest;
  }

  /**
   * Sets the progress of applied events.
   *
   * @param number the number of applied events
   * @param time the cluster time up to which all events are applied
   * @param behind how far the destination is behind the source
   * @param exactFrom see {@link CopyProgress#consistentFrom}
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
    Sample now =
        new Sample(
            nanoTime.getAsLong(),
            counts.documentsDone.get(),
            counts.bytesDone.get(),
            events,
            lag().toMillis());
    samples.add(now);
    while (samples.size() > 2 && now.nanos() - samples.getFirst().nanos() > WINDOW) {
      samples.removeFirst();
    }
    Sample first = samples.getFirst();
    double seconds = (now.nanos() - first.nanos()) / 1e9;
    long documents = now.documents() - first.documents();
    long bytes = now.bytes() - first.bytes();
    Map<CopyPhase, Duration> spent = new EnumMap<>(times);
    if (phase == CopyPhase.DONE) {
      seconds = spent.getOrDefault(CopyPhase.FULL, Duration.ZERO).toNanos() / 1e9;
      documents = now.documents();
      bytes = now.bytes();
    } else {
      spent.merge(phase, Duration.ofNanos(now.nanos() - phaseBegun), Duration::plus);
    }
    return new CopyProgress(
        job,
        phase,
        steps.text(),
        paused,
        collections,
        counts.ranges.get(),
        counts.rangesDone.get(),
        counts.documents.get(),
        now.documents(),
        now.bytes(),
        rate(documents, seconds),
        rate(bytes, seconds),
        counts.rangesReadAgain.get(),
        events,
        phase == CopyPhase.DONE ? 0 : rate(events - first.events(), seconds),
        Duration.ofMillis(now.lagMillis()),
        lagOperations(),
        lagAtFinish,
        window == null ? null : window.length().minusMillis(now.lagMillis()),
        consistentFrom,
        phase == CopyPhase.DONE || paused ? null : left(now, first, rate(documents, seconds)),
        spent,
        List.copyOf(notes));
  }

  private static double rate(long count, double seconds) {
    return seconds > 0 ? count / seconds : 0;
  }

  /** An estimate of the time until the end of the phase. Null if it is unknown; never 0. */
  private @Nullable Duration left(Sample now, Sample first, double documentsPerSecond) {
    double seconds;
    if (phase == CopyPhase.FULL) {
      seconds = (counts.documents.get() - now.documents()) / documentsPerSecond;
    } else if (steps.all > 0) {
      double part = steps.part();
      if (part < LEAST_PART) {
        return null;
      }
      seconds = (now.nanos() - steps.begun) / 1e9 * (1 - part) / part;
    } else if (now.lagMillis() > CAUGHT_UP.toMillis()) {
      double fallen = first.lagMillis() - now.lagMillis();
      seconds = now.lagMillis() / fallen * (now.nanos() - first.nanos()) / 1e9;
    } else {
      return null;
    }
    return seconds > 0 && seconds < Integer.MAX_VALUE
        ? Duration.ofSeconds((long) Math.ceil(seconds))
        : null;
  }

  /**
   * How far the destination is behind the source. Before the first event is applied, it is the time
   * since the start of the copy.
   */
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

  /**
   * The progress as a document, which is stored with the job so that other processes can read it.
   */
  synchronized BsonDocument document() {
    CopyProgress now = progress();
    Long behind = now.lagOperations();
    BsonDocument seconds = new BsonDocument();
    now.times().forEach((each, time) -> seconds.append(name(each), seconds(time)));
    return new BsonDocument("phase", new BsonString(now.phase().name()))
        .append("ranges", new BsonInt64(now.ranges()))
        .append("rangesDone", new BsonInt64(now.rangesDone()))
        .append("documents", new BsonInt64(now.documents()))
        .append("documentsDone", new BsonInt64(now.documentsDone()))
        .append("bytesDone", new BsonInt64(now.bytesDone()))
        .append("documentsPerSecond", new BsonDouble(now.documentsPerSecond()))
        .append("bytesPerSecond", new BsonDouble(now.bytesPerSecond()))
        .append("rangesReadAgain", new BsonInt64(now.rangesReadAgain()))
        .append("eventsApplied", new BsonInt64(now.eventsApplied()))
        .append("eventsPerSecond", new BsonDouble(now.eventsPerSecond()))
        .append("lagSeconds", seconds(now.lag()))
        .append("lagOperations", behind == null ? BsonNull.VALUE : new BsonInt64(behind))
        .append("lagSecondsAtFinish", seconds(now.lagAtFinish()))
        .append("consistent", BsonBoolean.valueOf(now.consistentFrom() != null))
        .append("oplogSecondsLeft", seconds(now.oplogLeft()))
        .append("secondsLeft", seconds(now.left()))
        .append("seconds", seconds)
        .append("applied", applied == null ? BsonNull.VALUE : applied);
  }

  private static BsonValue seconds(@Nullable Duration time) {
    return time == null ? BsonNull.VALUE : new BsonDouble(time.toMillis() / 1_000.0);
  }

  private static String name(CopyPhase phase) {
    return phase.name().toLowerCase(Locale.ROOT);
  }
}
