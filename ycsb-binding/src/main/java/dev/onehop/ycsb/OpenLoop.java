package dev.onehop.ycsb;

import dev.onehop.ycsb.IntendedOperations.Operation;
import dev.onehop.ycsb.LatencyLog.Kind;
import dev.onehop.ycsb.OpenLoopOptions.Arrivals;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import site.ycsb.Status;

/**
 * Issues operations at intended times, regardless of earlier replies, and measures latencies from
 * the intended time. If an operation waits because an earlier operation is slow, its latency
 * includes the wait of its user. A closed loop would issue fewer operations and omit these
 * latencies (coordinated omission).
 *
 * <p>A reactive driver needs no thread per operation. With a synchronous driver the number of
 * threads is limited; the latency of an operation includes its wait for a free thread. If an
 * operation was not issued, or has no reply at the end of the run, its latency is the time from its
 * intended time to the end of the run.
 */
final class OpenLoop {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  /** The most operations in progress, a limit for the memory. Further operations are not issued. */
  private static final int MOST_UNDER_WAY = 200_000;

  private final OpenLoopOptions options;
  private final IntendedOperations operations;
  private final @Nullable ShardRanges shards;
  private final LatencyLog latencies;
  private final @Nullable ExecutorService threads;
  private final Duration drain;
  private final @Nullable PrintStream status;
  private final Set<Issue> underWay = ConcurrentHashMap.newKeySet();
  // Guarded by itself.
  private final Tally tally = new Tally();
  private final Histogram interval =
      new Histogram(3); // latencies of the last second; guarded by tally
  private long failedInInterval;
  private final long start = System.nanoTime();
  private long nextInterval = start + SECOND;
  private long answeredBefore;
  private long notIssuable;

  /**
   * @param shards the ranges of shards; null if latencies are not separated by shard
   * @param blocking whether an operation occupies a thread
   * @param status the stream for a progress line each second; null for no lines
   * @throws InvalidPropertyException if the file of the latencies cannot be written
   */
  OpenLoop(
      OpenLoopOptions options,
      IntendedOperations operations,
      @Nullable ShardRanges shards,
      boolean blocking,
      @Nullable PrintStream status) {
    this.options = options;
    this.operations = operations;
    this.shards = shards;
    this.drain = options.drain();
    this.status = status;
    this.latencies = new LatencyLog(options.latencies(), start);
    this.threads = blocking ? Executors.newFixedThreadPool(options.threads()) : null;
  }

  /** Latencies of the successful operations, by operation. */
  Map<String, Histogram> latencies(Kind kind) {
    return latencies.totals(kind);
  }

  /** The counts of the run. */
  Tally tally() {
    return tally;
  }

  /**
   * Runs to the end. May be called once.
   *
   * @param out the stream for the measurements, in YCSB's format
   */
  RunSummary.Intended run(PrintStream out) {
    try {
      RunSummary.Intended intended = drain(issueAll());
      print(out, intended);
      return intended;
    } finally {
      latencies.close();
      if (threads != null) {
        threads.shutdownNow();
      }
    }
  }

  /** Issues all operations; returns the number of intended operations. */
  private long issueAll() {
    show(start);
    Duration limit = options.duration();
    long longest = limit == null ? Long.MAX_VALUE / 2 : limit.toNanos();
    double offset = 0;
    long count = 0;
    while (count < options.operations() && offset < longest) {
      Operation next = operations.next();
      if (next == null) {
        break;
      }
      long intended = start + (long) offset;
      sleepUntil(intended);
      count++;
      if (count % options.burst() == 0) {
        offset += gapNanos();
      }
      Issue issue = new Issue(next, intended);
      underWay.add(issue);
      latencies.begins(intended);
      if (underWay.size() > MOST_UNDER_WAY) {
        notIssuable++;
      } else if (threads == null) {
        issue.begin();
      } else {
        threads.execute(issue::begin);
      }
    }
    return count;
  }

  /** Waits for operations in flight, and counts the operations that remain. */
  private RunSummary.Intended drain(long count) {
    long end = System.nanoTime() + drain.toNanos();
    while (underWay.size() > notIssuable && System.nanoTime() - end < 0) {
      sleepUntil(System.nanoTime() + SECOND / 100);
    }
    long notIssued = 0;
    long unanswered = 0;
    for (Issue issue : underWay) {
      boolean begun = issue.begun != 0;
      Kind kind = begun ? Kind.UNANSWERED : Kind.NOT_ISSUED;
      if (issue.end(Status.ERROR, "no reply by the end of the run", kind)) {
        notIssued += begun ? 0 : 1;
        unanswered += begun ? 1 : 0;
      }
    }
    return new RunSummary.Intended(options.rate(), count, notIssued, unanswered);
  }

  private double gapNanos() {
    double mean = SECOND / options.rate() * options.burst();
    return options.arrivals() == Arrivals.CONSTANT
        ? mean
        : -Math.log(1 - ThreadLocalRandom.current().nextDouble()) * mean;
  }

  private void sleepUntil(long nanos) {
    while (true) {
      long now = System.nanoTime();
      if (now - nextInterval >= 0) {
        nextInterval += SECOND;
        // Later operations have later intended times, so no earlier second gets another operation.
        latencies.flush(Math.min(now, nanos));
        show(now);
      }
      long left = Math.min(nanos, nextInterval) - now;
      if (nanos - now <= 0) {
        return;
      }
      LockSupport.parkNanos(Math.max(1, left));
    }
  }

  private void show(long now) {
    if (status == null) {
      return;
    }
    long answered;
    String latencies;
    synchronized (tally) {
      answered = tally.operations();
      latencies =
          "[ALL: Count=%d, 99=%d] [ALL-FAILED: Count=%d, 99=0]"
              .formatted(
                  interval.getTotalCount(), interval.getValueAtPercentile(99), failedInInterval);
      interval.reset();
      failedInInterval = 0;
    }
    // The format of YCSB's status lines.
    status.printf(
        Locale.ROOT,
        "%d sec: %d operations; %d current ops/sec; %d under way %s%n",
        (now - start) / SECOND,
        answered,
        answered - answeredBefore,
        underWay.size(),
        latencies);
    answeredBefore = answered;
  }

  /** Prints the measurements in YCSB's format. */
  private void print(PrintStream out, RunSummary.Intended intended) {
    double seconds;
    long answered;
    synchronized (tally) {
      seconds = Math.max(1, tally.lastOperationNanos() - tally.firstOperationNanos()) / 1e9;
      answered = tally.operations() - intended.notIssued() - intended.unanswered();
    }
    line(out, "OVERALL", "RunTime(ms)", Math.round(seconds * 1000));
    line(out, "OVERALL", "Rate(ops/sec)", intended.rate());
    line(out, "OVERALL", "Throughput(ops/sec)", answered / seconds);
    line(out, "OVERALL", "Intended", intended.operations());
    line(out, "OVERALL", "NotIssued", intended.notIssued());
    line(out, "OVERALL", "Unanswered", intended.unanswered());
    print(out, "", latencies.totals(Kind.INTENDED), "Latency(us)");
    print(out, "", latencies.totals(Kind.SERVICE), "ServiceTime(us)");
    for (Kind missed : List.of(Kind.FAILED, Kind.UNANSWERED, Kind.NOT_ISSUED)) {
      print(out, "-" + missed, latencies.totals(missed), "Latency(us)");
    }
  }

  private static void print(
      PrintStream out, String suffix, Map<String, Histogram> histograms, String what) {
    histograms.forEach(
        (operation, histogram) -> {
          String name = operation + suffix;
          line(out, name, "Operations", histogram.getTotalCount());
          line(out, name, "Average" + what, histogram.getMean());
          line(out, name, "Max" + what, histogram.getMaxValue());
          for (int percentile : new int[] {50, 95, 99}) {
            line(
                out,
                name,
                percentile + "thPercentile" + what,
                histogram.getValueAtPercentile(percentile));
          }
          line(out, name, "99.9Percentile" + what, histogram.getValueAtPercentile(99.9));
        });
  }

  private static void line(PrintStream out, String group, String what, Number value) {
    out.printf(Locale.ROOT, "[%s], %s, %s%n", group, what, value);
  }

  /** An operation, from its intended time. */
  private final class Issue {
    private final Operation operation;
    private final long intended;
    private volatile long begun;

    Issue(Operation operation, long intended) {
      this.operation = operation;
      this.intended = intended;
    }

    void begin() {
      long now = System.nanoTime();
      begun = now == 0 ? 1 : now;
      operation
          .status()
          .subscribe(
              status -> end(status, status.getDescription(), Kind.FAILED),
              failure -> {
                RuntimeException cause =
                    failure instanceof RuntimeException known
                        ? known
                        : new IllegalStateException(failure);
                end(Statuses.of(cause), Failures.oneLine(cause), Kind.FAILED);
              });
    }

    /**
     * Counts the operation if it is not counted yet.
     *
     * @param missed the kind of latency if the result is not OK
     * @return whether the operation was counted now
     */
    boolean end(Status result, String why, Kind missed) {
      if (!underWay.remove(this)) {
        return false;
      }
      long now = System.nanoTime();
      String shard = shards == null ? null : shards.shard(operation.key());
      String name = operation.name();
      if (result.isOk()) {
        latencies.answered(name, shard, intended, begun, now);
      } else {
        latencies.missed(name, missed, shard, intended, now);
        MongoBinding.FAILURES.failed(name, result, why);
      }
      synchronized (tally) {
        tally.operation(start, now, result.isOk());
        if (result.isOk()) {
          interval.recordValue(TimeUnit.NANOSECONDS.toMicros(Math.max(0, now - intended)));
        } else {
          failedInInterval++;
        }
      }
      return true;
    }
  }
}
