package dev.onehop.ycsb;

import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;

/**
 * YCSB binding {@code direct-sync}: the synchronous driver through OneHop's direct mode, which
 * sends every operation to the server of the shard that owns the record. It differs from {@code
 * legacy} only in the client.
 */
public final class DirectSyncClient extends MongoBinding {

  /** Called by YCSB, once per client thread. */
  public DirectSyncClient() {
    super("direct-sync");
  }

  @Override
  DocumentStore open(BindingOptions options) {
    options.refusePipelining();
    return new SyncStore(
        OneHop.builder(options.url().getConnectionString())
            .applyToClientSettings(options::applyTo)
            .routing(RoutingMode.DIRECT)
            .client(com.mongodb.client.MongoClient.class),
        options.database());
  }
}
