package dev.onehop.routing.internal.client;

import com.mongodb.ServerAddress;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.routing.RouteDecision;
import dev.onehop.routing.RoutingMeters;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.internal.catalog.RoutingCatalog.RefreshListener;
import dev.onehop.routing.internal.metrics.OperationTimers;
import dev.onehop.routing.internal.metrics.Outcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Measures operations, refreshes and affinity in a Micrometer registry.
 *
 * <p>Thread-safe.
 */
public final class RoutingMetrics implements RefreshListener {
  private final MeterRegistry registry;
  private final OperationTimers<ServerAddress> timers;

  /** By shard and operation the timer that was used last; it mostly is the next one, too. */
  private final Map<String, Map<String, Last>> lasts = new ConcurrentHashMap<>();

  private final Map<FallbackKey, Counter> fallbacks = new ConcurrentHashMap<>();
  private final TableMetrics tables;
  private final AtomicInteger shardsWithRouter;
  private final MultiGauge shardRouters;

  private record Last(RouteDecision decision, @Nullable ServerAddress server, Timer timer) {}

  private record FallbackKey(String shard, boolean routerDown) {}

  public RoutingMetrics(MeterRegistry registry) {
    this.registry = registry;
    this.timers = new OperationTimers<>(registry, RoutingMode.TARGETED);
    this.tables = new TableMetrics(registry);
    this.shardsWithRouter =
        registry.gauge(RoutingMeters.SHARDS_WITH_ROUTER.meterName(), new AtomicInteger());
    this.shardRouters =
        MultiGauge.builder(RoutingMeters.SHARD_ROUTERS.meterName()).register(registry);
  }

  /** From where the ages of routing tables are asked. */
  void agesFrom(Function<String, Optional<Duration>> source) {
    tables.agesFrom(source);
  }

  /** An operation ended. */
  void operation(
      String operation,
      RouteDecision decision,
      @Nullable String shard,
      @Nullable ServerAddress server,
      Outcome outcome,
      long nanos) {
    if (outcome != Outcome.OK) {
      timers.of(operation, decision, shard, server, outcome).record(nanos, TimeUnit.NANOSECONDS);
      return;
    }
    String where = shard == null ? OperationTimers.NONE : shard;
    Map<String, Last> byOperation = lasts.get(where);
    if (byOperation == null) {
      byOperation = lasts.computeIfAbsent(where, name -> new ConcurrentHashMap<>());
    }
    Last last = byOperation.get(operation);
    if (last == null || last.decision() != decision || !Objects.equals(last.server(), server)) {
      last = new Last(decision, server, timers.of(operation, decision, shard, server, outcome));
      byOperation.put(operation, last);
    }
    last.timer().record(nanos, TimeUnit.NANOSECONDS);
  }

  /** An operation on one shard went elsewhere than beside it. */
  void fallback(String shard, boolean routerDown) {
    FallbackKey key = new FallbackKey(shard, routerDown);
    Counter counter = fallbacks.get(key);
    if (counter == null) {
      counter =
          fallbacks.computeIfAbsent(
              key,
              each ->
                  registry.counter(
                      RoutingMeters.FALLBACKS.meterName(),
                      Tags.of(
                          "shard",
                          each.shard(),
                          "reason",
                          each.routerDown() ? "router-down" : "no-router-beside")));
    }
    counter.increment();
  }

  /** Which mongoses stand beside which shards, as of now. */
  public void affinity(Affinity affinity) {
    int besides = 0;
    for (Affinity.Beside beside : affinity.shards().values()) {
      besides += beside.isBeside() ? 1 : 0;
    }
    shardsWithRouter.set(besides);
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

  @Override
  public void refreshed(
      String namespace, @Nullable RoutingTable table, Duration took, @Nullable Throwable failure) {
    tables.refreshed(namespace, table, took, failure);
  }

  @Override
  public void forgotten(String namespace) {
    tables.forgotten(namespace);
  }
}
