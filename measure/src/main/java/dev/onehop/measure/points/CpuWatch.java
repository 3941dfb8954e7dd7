package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.results.Conditions;
import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.testbed.evidence.CpuTimes;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks a few times a second for processor times and for the conditions of a measurement, on a
 * thread of its own, until closed.
 */
final class CpuWatch implements AutoCloseable {

  private static final Duration INTERVAL = Duration.ofMillis(250);

  private final CpuSampler sampler = new CpuSampler();
  private final ConditionsSampler conditions = new ConditionsSampler();
  private final BenchCluster cluster;
  private final Supplier<@Nullable YcsbProcesses> client;
  private final Thread thread;

  /**
   * Begins to watch.
   *
   * @param cluster tells what servers and links have used so far
   * @param client the clients; null while there are none
   */
  CpuWatch(BenchCluster cluster, Supplier<@Nullable YcsbProcesses> client) {
    this.cluster = cluster;
    this.client = client;
    this.thread = new Thread(this::sampleUntilClosed, "cpu-watch");
    thread.setDaemon(true);
    thread.start();
  }

  private void sampleUntilClosed() {
    try {
      while (true) {
        sample();
        Thread.sleep(INTERVAL.toMillis());
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  private void sample() {
    YcsbProcesses process = client.get();
    CpuTimes times = cluster.cpuTimes();
    sampler.add(
        new CpuSampler.Sample(
            System.nanoTime(),
            process == null ? null : process.cpuTime(),
            times.routers(),
            times.mongods(),
            times.links()));
    conditions.add(
        new ConditionsSampler.Sample(
            System.nanoTime(),
            ProcStat.now(),
            ProcStat.clockMegahertz(),
            process == null ? null : process.connections(),
            cluster.linkBytes()));
  }

  /** See {@link CpuSampler#perOperation}. */
  @Nullable CpuPerOperation perOperation(RunSummary summary) {
    return sampler.perOperation(
        summary.firstOperationNanos(),
        summary.lastOperationNanos(),
        summary.operations() / summary.measuredSeconds());
  }

  /** See {@link ConditionsSampler#during}. */
  Conditions conditions(RunSummary summary) {
    return conditions.during(summary);
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
