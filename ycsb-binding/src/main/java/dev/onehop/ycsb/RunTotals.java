package dev.onehop.ycsb;

import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The totals of all threads of a run. Safe for use by many threads. */
final class RunTotals {
  private static final Map<Key, RunTotals> BY_RUN = new ConcurrentHashMap<>();

  private final String mode;
  private final Map<String, Long> routes = new HashMap<>();
  private RunSummary.@Nullable Intended openLoop;
  private RunSummary.@Nullable Client client;
  private @Nullable WarmupTime warmup;
  private @Nullable BatchMeans reached;
  private int unfinishedThreads;
  private long operations;
  private long errors;
  private long warmupOperations;
  private long firstOperationNanos;
  private long lastOperationNanos;

  RunTotals(String mode) {
    this.mode = mode;
  }

  /**
   * Returns the totals of this process's run with a binding and a summary file.
   *
   * <p>The totals outlive the client. In a short run a thread may have finished, and the client may
   * be closed, before the next thread starts. Both threads belong to one run.
   */
  static RunTotals of(String mode, @Nullable Path summary) {
    return BY_RUN.computeIfAbsent(new Key(mode, summary), key -> new RunTotals(mode));
  }

  /** Returns the totals of all runs of this process. */
  static Collection<RunTotals> ofProcess() {
    return List.copyOf(BY_RUN.values());
  }

  synchronized void threadStarts() {
    unfinishedThreads++;
  }

  synchronized void threadFinishes(Tally tally) {
    unfinishedThreads--;
    add(tally);
  }

  /** Whether every thread that started has finished. */
  synchronized boolean isComplete() {
    return unfinishedThreads == 0;
  }

  private void add(Tally tally) {
    if (tally.operations() > 0) {
      // nanoTime values may overflow, so they are compared by difference.
      boolean first = operations == 0;
      if (first || tally.firstOperationNanos() - firstOperationNanos < 0) {
        firstOperationNanos = tally.firstOperationNanos();
      }
      if (first || tally.lastOperationNanos() - lastOperationNanos > 0) {
        lastOperationNanos = tally.lastOperationNanos();
      }
    }
    operations += tally.operations();
    errors += tally.errors();
    warmupOperations += tally.warmupOperations();
  }

  synchronized void addRoutes(Map<String, Long> counts) {
    counts.forEach((decision, count) -> routes.merge(decision, count, Long::sum));
  }

  /** Sets the counts of intended operations. */
  synchronized void openLoop(RunSummary.Intended intended) {
    openLoop = intended;
  }

  /** Sets the client among several, with its use of resources. */
  synchronized void client(RunSummary.Client oneOfSeveral) {
    client = oneOfSeveral;
  }

  /** Sets the warm-up. */
  synchronized void warmup(WarmupTime time) {
    warmup = time;
  }

  /** Sets the error of the throughput; null if the run has no limit of this error. */
  synchronized void reached(@Nullable BatchMeans error) {
    reached = error;
  }

  synchronized RunSummary summary() {
    return new RunSummary(
        mode,
        firstOperationNanos,
        lastOperationNanos,
        operations,
        errors,
        warmupOperations,
        warmup == null ? 0 : warmup.seconds(),
        warmup == null ? null : warmup.steady(),
        Map.copyOf(routes),
        reached,
        openLoop,
        client);
  }

  private record Key(String mode, @Nullable Path summary) {}
}
