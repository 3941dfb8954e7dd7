package dev.onehop.routing.internal.metrics;

import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.observation.RoutingMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Publishes the mongoses near each shard in a Micrometer registry.
 *
 * <p>Thread-safe.
 */
public final class AffinityMetrics {
  private final AtomicInteger shardsWithRouter;
  private final MultiGauge shardRouters;

  public AffinityMetrics(MeterRegistry registry) {
    this.shardsWithRouter =
        registry.gauge(RoutingMeters.SHARDS_WITH_ROUTER.meterName(), new AtomicInteger());
    this.shardRouters =
        MultiGauge.builder(RoutingMeters.SHARD_ROUTERS.meterName()).register(registry);
  }

  /** Updates the gauges. */
  public void accept(Affinity affinity) {
    shardsWithRouter.set(
        (int) affinity.shards().values().stream().filter(Affinity.Beside::isBeside).count());
    List<Row<?>> rows =
        affinity.shards().entrySet().stream()
            .<Row<?>>map(
                each ->
                    Row.of(
                        Tags.of(
                            "shard",
                            each.getKey(),
                            "source",
                            each.getValue()
                                .source()
                                .name()
                                .toLowerCase(Locale.ROOT)
                                .replace('_', '-')),
                        each.getValue().routers().size()))
            .toList();
    shardRouters.register(rows, true);
  }
}
