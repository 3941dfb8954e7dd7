package dev.onehop.ycsb;

import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Map;
import java.util.TreeMap;

/**
 * YCSB binding {@code targeted-async}: the reactive driver through OneHop, which sends every
 * operation to the mongos beside the shard that owns the record.
 */
public final class TargetedAsyncClient extends MongoBinding {

  /** Called by YCSB, once per client thread. */
  public TargetedAsyncClient() {
    super("targeted-async");
  }

  @Override
  DocumentStore open(BindingOptions options) {
    MeterRegistry meters = new SimpleMeterRegistry();
    OneHop.Builder client =
        OneHop.builder(options.url().getConnectionString())
            .applyToClientSettings(options::applyTo)
            .meterRegistry(meters);
    if (options.pipelining()) {
      client.pipelining(options::applyTo);
    }
    return new ReactiveStore(
        client.reactiveClient(), options.database(), () -> operationsByDecision(meters));
  }

  private static Map<String, Long> operationsByDecision(MeterRegistry meters) {
    Map<String, Long> counts = new TreeMap<>();
    for (Timer timer : meters.find(RoutingMeters.OPERATIONS.meterName()).timers()) {
      counts.merge(timer.getId().getTag("decision"), timer.count(), Long::sum);
    }
    return counts;
  }
}
