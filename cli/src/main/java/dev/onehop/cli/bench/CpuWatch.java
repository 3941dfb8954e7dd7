package dev.onehop.cli.bench;

import dev.onehop.cli.results.CpuPerOperation;
import dev.onehop.testbed.evidence.CpuTimes;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Asks for processor times a few times a second, on a thread of its own, until closed. */
final class CpuWatch implements AutoCloseable {

  private static final Duration INTERVAL = Duration.ofMillis(250);

  private final CpuSampler sampler = new CpuSampler();
  private final Supplier<CpuTimes> cluster;
  private final Supplier<@Nullable Duration> client;
  private final Thread thread;

  /**
   * Begins to watch.
   *
   * @param cluster what servers and links have used so far
   * @param client what the client has used so far, null while there is none
   */
  CpuWatch(Supplier<CpuTimes> cluster, Supplier<@Nullable Duration> client) {
    this.cluster = cluster;
    this.client = client;
    this.thread = new Thread(this::sampleUntilClosed, "cpu-watch");
    thread.setDaemon(true);
    thread.start();
  }

  private void sampleUntilClosed() {
    try {
      while (true) {
        CpuTimes times = cluster.get();
        sampler.add(
            new CpuSampler.Sample(
                System.nanoTime(), client.get(), times.routers(), times.mongods(), times.links()));
        Thread.sleep(INTERVAL.toMillis());
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  /** See {@link CpuSampler#perOperation}. */
  @Nullable CpuPerOperation perOperation(RunSummary summary) {
    return sampler.perOperation(
        summary.firstOperationNanos(),
        summary.lastOperationNanos(),
        summary.operations() / summary.measuredSeconds());
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
