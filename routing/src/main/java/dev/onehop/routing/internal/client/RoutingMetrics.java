package dev.onehop.routing.internal.client;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.routing.RouteDecision;
import dev.onehop.routing.RoutingMeters;
import dev.onehop.routing.internal.catalog.RoutingCatalog.RefreshListener;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Counts decisions and refreshes in a Micrometer registry.
 *
 * <p>Thread-safe.
 */
public final class RoutingMetrics implements RefreshListener {
  private static final String NO_SHARD = "none";

  private final MeterRegistry registry;
  // Looking a meter up by its tags costs more than routing does.
  private final Map<CounterKey, Counter> counters = new ConcurrentHashMap<>();
  private final Map<String, AtomicInteger> chunks = new ConcurrentHashMap<>();
  private final AtomicInteger shardsWithRouter;

  private record CounterKey(String operation, RouteDecision decision, String shard) {}

  public RoutingMetrics(MeterRegistry registry) {
    this.registry = registry;
    this.shardsWithRouter =
        registry.gauge(RoutingMeters.SHARDS_WITH_ROUTER.meterName(), new AtomicInteger());
  }

  void count(String operation, RouteDecision decision, @Nullable String shard) {
    counters
        .computeIfAbsent(
            new CounterKey(operation, decision, shard == null ? NO_SHARD : shard), this::counter)
        .increment();
  }

  void shardsWithRouter(int number) {
    shardsWithRouter.set(number);
  }

  @Override
  public void refreshed(
      String namespace, @Nullable RoutingTable table, Duration took, @Nullable Throwable failure) {
    registry
        .timer(
            RoutingMeters.REFRESHES.meterName(),
            Tags.of("namespace", namespace, "outcome", failure == null ? "ok" : "failed"))
        .record(took);
    if (table != null) {
      chunks
          .computeIfAbsent(
              namespace,
              name ->
                  registry.gauge(
                      RoutingMeters.TABLE_CHUNKS.meterName(),
                      Tags.of("namespace", name),
                      new AtomicInteger()))
          .set(table.isSharded() ? table.chunkCount() : 0);
    }
  }

  private Counter counter(CounterKey key) {
    return registry.counter(
        RoutingMeters.OPERATIONS.meterName(),
        Tags.of(
            "operation", key.operation(), "decision", key.decision().tag(), "shard", key.shard()));
  }
}
