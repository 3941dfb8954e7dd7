package dev.onehop.ycsb;

import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.transport.PipelinedTransport;
import dev.onehop.routing.transport.PipeliningSettings;

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
    if (!options.pipelining()) {
      return new ReactiveStore(
          MongoClients.create(options.clientSettings()), options.database(), RouteCounts.NONE);
    }
    PipeliningSettings.Builder pipelining = PipeliningSettings.builder();
    options.applyTo(pipelining);
    // Lives as long as the process, as the one client on it does.
    PipelinedTransport transport = PipelinedTransport.create(pipelining.build());
    MongoClientSettings.Builder settings = MongoClientSettings.builder(options.clientSettings());
    transport.applyTo(settings);
    return new ReactiveStore(
        MongoClients.create(settings.build()), options.database(), RouteCounts.NONE);
  }
}
