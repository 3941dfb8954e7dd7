package dev.onehop.measure.points;

import dev.onehop.measure.results.FleetResult.Server;
import dev.onehop.measure.results.FleetResult.Usage;
import dev.onehop.testbed.evidence.ServerUsage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/** Asks for what servers occupy each second, on a thread of its own, until closed. */
final class UsageWatch implements AutoCloseable {

  private static final Duration INTERVAL = Duration.ofSeconds(1);

  private record Sample(long nanos, List<ServerUsage> servers) {}

  private final Supplier<List<ServerUsage>> source;
  private final List<ServerUsage> rest;
  private final List<Sample> samples = new ArrayList<>(); // guarded by itself
  private final Thread thread;

  /** Takes what servers occupy now for what they occupy at rest, and begins to watch. */
  UsageWatch(Supplier<List<ServerUsage>> source) {
    this.source = source;
    this.rest = source.get();
    this.thread = new Thread(this::sampleUntilClosed, "usage-watch");
    thread.setDaemon(true);
    thread.start();
  }

  private void sampleUntilClosed() {
    try {
      while (true) {
        Thread.sleep(INTERVAL.toMillis());
        List<ServerUsage> now = source.get();
        synchronized (samples) {
          samples.add(new Sample(System.nanoTime(), now));
        }
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  /**
   * What each server that was there at rest had.
   *
   * @param fromNanos when operations were first issued, by {@link System#nanoTime}
   * @param toNanos when the last one was
   */
  List<Server> servers(long fromNanos, long toNanos) {
    Map<String, List<ServerUsage>> all = new LinkedHashMap<>();
    Map<String, List<ServerUsage>> loaded = new LinkedHashMap<>();
    synchronized (samples) {
      for (Sample sample : samples) {
        boolean within = sample.nanos() - fromNanos >= 0 && sample.nanos() - toNanos <= 0;
        for (ServerUsage usage : sample.servers()) {
          all.computeIfAbsent(usage.server(), name -> new ArrayList<>()).add(usage);
          if (within) {
            loaded.computeIfAbsent(usage.server(), name -> new ArrayList<>()).add(usage);
          }
        }
      }
    }
    List<Server> servers = new ArrayList<>();
    for (ServerUsage before : rest) {
      servers.add(
          new Server(
              before.server(),
              before.host(),
              before.router(),
              new Usage(before.sockets(), before.residentBytes()),
              usage(loaded.getOrDefault(before.server(), List.of(before)), 0.5),
              usage(all.getOrDefault(before.server(), List.of(before)), 1)));
    }
    return servers;
  }

  private static Usage usage(List<ServerUsage> of, double quantile) {
    return new Usage(
        (int) quantile(of, ServerUsage::sockets, quantile),
        quantile(of, ServerUsage::residentBytes, quantile));
  }

  private static long quantile(
      List<ServerUsage> of, ToLongFunction<ServerUsage> figure, double quantile) {
    long[] sorted = of.stream().mapToLong(figure).sorted().toArray();
    return sorted[(int) ((sorted.length - 1) * quantile)];
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
