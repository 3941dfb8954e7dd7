package dev.onehop.ycsb;

import com.mongodb.client.MongoClients;

/**
 * The limit for a binding, which {@code onehop bench --peer straight} measures: the official
 * synchronous driver. Each operation goes directly to the server of the shard that owns the record,
 * see {@link StraightStore}.
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
