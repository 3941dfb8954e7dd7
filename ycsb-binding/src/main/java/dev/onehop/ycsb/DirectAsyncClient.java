package dev.onehop.ycsb;

import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;

/**
 * YCSB binding {@code direct-async}: the reactive driver through OneHop's direct mode, which sends
 * every operation to the server of the shard that owns the record.
 */
public final class DirectAsyncClient extends MongoBinding {

  /** Called by YCSB, once per client thread. */
  public DirectAsyncClient() {
    super("direct-async");
  }

  @Override
  DocumentStore open(BindingOptions options) {
    OneHop.Builder client =
        OneHop.builder(options.url().getConnectionString())
            .applyToClientSettings(options::applyTo)
            .routing(RoutingMode.DIRECT);
    if (options.pipelining()) {
      client.pipelining(options::applyTo);
    }
    return new ReactiveStore(
        client.client(com.mongodb.reactivestreams.client.MongoClient.class),
        options.database(),
        RouteCounts.NONE);
  }
}
