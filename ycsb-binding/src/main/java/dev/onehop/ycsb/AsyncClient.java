package dev.onehop.ycsb;

import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;

/**
 * YCSB binding {@code async}: the official reactive streams driver. With pipelining, it runs on a
 * router that does not route.
 *
 * <p>YCSB measures an operation on the thread that calls it, so each operation blocks this thread
 * until the reply. One instance belongs to one YCSB client thread; all instances of a process share
 * one client.
 */
public final class AsyncClient extends MongoBinding {

  /** Called by YCSB, once per client thread. */
  public AsyncClient() {
    super("async");
  }

  @Override
  DocumentStore open(BindingOptions options) {
    if (!options.pipelining()) {
      return new ReactiveStore(
          MongoClients.create(options.clientSettings()), options.database(), RouteCounts.NONE);
    }
    MongoClient client =
        OneHop.builder(options.url().getConnectionString())
            .applyToClientSettings(options::applyTo)
            .routing(RoutingMode.NONE)
            .pipelining(options::applyTo)
            .client(MongoClient.class);
    return new ReactiveStore(client, options.database(), RouteCounts.NONE);
  }
}
