package dev.onehop.ycsb;

import com.mongodb.client.MongoClients;

/**
 * YCSB binding {@code straight-sync}: the official synchronous driver, which sends each operation
 * directly to the server of the shard that owns the record, see {@link StraightStore}. Its
 * throughput is the upper limit that the throughput of other bindings is compared with. {@code
 * onehop bench points --modes straight} measures it.
 */
public final class StraightSyncPeer extends MongoBinding {

  /** Called by YCSB, once per client thread. */
  public StraightSyncPeer() {
    super("straight-sync");
  }

  @Override
  DocumentStore open(BindingOptions options) {
    options.refusePipelining();
    return StraightStore.open(
        options, settings -> new SyncStore(MongoClients.create(settings), options.database()));
  }
}
