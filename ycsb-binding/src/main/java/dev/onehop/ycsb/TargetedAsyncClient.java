package dev.onehop.ycsb;

import dev.onehop.routing.OneHop;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

/**
 * YCSB binding {@code targeted-async}: the reactive driver through OneHop, which sends every
 * operation to the mongos near the shard that owns the record.
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
        client.client(com.mongodb.reactivestreams.client.MongoClient.class),
        options.database(),
        RouteCounts.of(meters));
  }
}
