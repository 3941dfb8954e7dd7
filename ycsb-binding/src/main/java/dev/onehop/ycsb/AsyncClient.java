package dev.onehop.ycsb;

import com.mongodb.reactivestreams.client.MongoClients;

/**
 * YCSB binding {@code async}: the official reactive streams driver.
 *
 * <p>YCSB measures an operation on the thread that asked for it, so each operation blocks that
 * thread until the answer is there. One instance belongs to one YCSB client thread; all instances
 * of a process share one client.
 */
public final class AsyncClient extends MongoBinding {

  /** Called by YCSB, once per client thread. */
  public AsyncClient() {
    super("async");
  }

  @Override
  DocumentStore open(BindingOptions options) {
    return new ReactiveStore(
        MongoClients.create(options.clientSettings()), options.database(), RouteCounts.NONE);
  }
}
