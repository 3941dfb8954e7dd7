package dev.onehop.ycsb;

import dev.onehop.routing.OneHop;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

/**
 * YCSB binding {@code targeted-sync}: the synchronous driver through OneHop, which sends every
 * operation to the mongos near the shard that owns the record. It differs from {@code legacy} only
 * in the client.
 */
public final class TargetedSyncClient extends MongoBinding {

  /** Called by YCSB, once per client thread. */
  public TargetedSyncClient() {
    super("targeted-sync");
  }

  @Override
  DocumentStore open(BindingOptions options) {
    options.refusePipelining();
    MeterRegistry meters = new SimpleMeterRegistry();
    return new SyncStore(
        OneHop.builder(options.url().getConnectionString())
            .applyToClientSettings(options::applyTo)
            .meterRegistry(meters)
            .client(com.mongodb.client.MongoClient.class),
        options.database(),
        RouteCounts.of(meters));
  }
}
