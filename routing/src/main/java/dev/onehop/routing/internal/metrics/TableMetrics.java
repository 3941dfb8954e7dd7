package dev.onehop.routing.internal.metrics;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.routing.observation.RoutingMeters;
import dev.onehop.shards.catalog.RoutingCatalog.RefreshListener;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Measures refreshes of routing tables, their size and their age, in a Micrometer registry. When a
 * collection's table is dropped, its meters are removed.
 *
 * <p>Thread-safe.
 */
public final class TableMetrics implements RefreshListener {
  private static final Set<RoutingMeters> BY_NAMESPACE =
      EnumSet.of(
          RoutingMeters.REFRESHES,
          RoutingMeters.TABLE_CHUNKS,
          RoutingMeters.TABLE_AGE,
          RoutingMeters.STALE_RETRIES);

  private final MeterRegistry registry;
  private final Map<String, AtomicInteger> chunks = new ConcurrentHashMap<>();
  private volatile Function<String, Optional<Duration>> age = namespace -> Optional.empty();

  public TableMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Sets the source of the ages of routing tables. */
  public void agesFrom(Function<String, Optional<Duration>> source) {
    age = source;
  }

  @Override
  public void refreshed(
      String namespace, @Nullable RoutingTable table, Duration took, @Nullable Throwable failure) {
    registry
        .timer(
            RoutingMeters.REFRESHES.meterName(),
            "namespace",
            namespace,
            "outcome",
            failure == null ? "ok" : "failed")
        .record(took);
    if (table != null) {
      chunks
          .computeIfAbsent(namespace, this::gauges)
          .set(table.isSharded() ? table.chunkCount() : 0);
    }
  }

  @Override
  public void forgotten(String namespace) {
    chunks.remove(namespace);
    for (RoutingMeters meter : BY_NAMESPACE) {
      registry
          .find(meter.meterName())
          .tag("namespace", namespace)
          .meters()
          .forEach(registry::remove);
    }
  }

  private AtomicInteger gauges(String namespace) {
    Tags tags = Tags.of("namespace", namespace);
    TimeGauge.builder(
            RoutingMeters.TABLE_AGE.meterName(),
            this,
            TimeUnit.MILLISECONDS,
            metrics ->
                metrics.age.apply(namespace).map(age -> (double) age.toMillis()).orElse(Double.NaN))
        .tags(tags)
        .register(registry);
    return registry.gauge(RoutingMeters.TABLE_CHUNKS.meterName(), tags, new AtomicInteger());
  }
}
