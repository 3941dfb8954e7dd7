package dev.onehop.measure.frame;

import dev.onehop.measure.results.Evidence;
import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.evidence.LocalHits;
import dev.onehop.testbed.evidence.OperationCounts;
import dev.onehop.testbed.evidence.RouterSampling;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The servers' figures for one point: the shards' counters, read repeatedly, and a sample of the
 * operations with their routers.
 */
final class ServerWatch implements BenchCluster.Watch {

  private static final Duration INTERVAL = Duration.ofMillis(500);

  private final Supplier<OperationCounts> counters;
  private final @Nullable RouterSampling routers;
  private final boolean samplesAll;
  private final ShareSampler shares = new ShareSampler();
  private final Thread thread;
  private volatile boolean ended;

  /**
   * Starts to collect.
   *
   * @param counters reads the shards' counters of executed operations
   * @param routers the sample of operations, already started; null without a sample
   * @param samplesAll whether the sample includes all operations
   */
  ServerWatch(
      Supplier<OperationCounts> counters, @Nullable RouterSampling routers, boolean samplesAll) {
    this.counters = counters;
    this.routers = routers;
    this.samplesAll = samplesAll;
    this.thread = new Thread(this::sampleUntilEnded, "server-watch");
    sample();
    thread.setDaemon(true);
    thread.start();
  }

  private void sampleUntilEnded() {
    try {
      while (!ended) {
        Thread.sleep(INTERVAL.toMillis());
        sample();
      }
    } catch (InterruptedException e) {
      // the collection has ended
    } catch (RuntimeException e) {
      // The shard has ended or is being stopped, which is reported elsewhere.
      ended = true;
    }
  }

  private void sample() {
    long asked = System.nanoTime();
    var counts = counters.get().byShard();
    long counted = asked + (System.nanoTime() - asked) / 2;
    counts.forEach((shard, operations) -> shares.add(shard, counted, operations));
  }

  @Override
  public Evidence evidence(long fromNanos, long toNanos) {
    end();
    sample();
    if (routers == null) {
      return new Evidence(shares.shares(fromNanos, toNanos), null, null);
    }
    LocalHits beside = routers.besideOwner(time(fromNanos), time(toNanos));
    return new Evidence(
        // With few operations per second, interpolated counts would consist mostly of the warm-up.
        samplesAll ? beside.sample().shares() : shares.shares(fromNanos, toNanos),
        beside.fraction().isPresent() ? beside.fraction().getAsDouble() : null,
        beside.sampled() == 0 ? null : beside.sampled());
  }

  /** The wall clock's time at a moment of {@link System#nanoTime}. */
  private static Instant time(long nanos) {
    return Instant.now().minusNanos(System.nanoTime() - nanos);
  }

  private void end() {
    ended = true;
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    end();
    try {
      if (routers != null) {
        routers.close();
      }
    } catch (TestbedException e) {
      // The servers have ended, so the sampling has ended, too. The failure is ignored.
    }
  }
}
