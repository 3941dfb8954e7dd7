package dev.onehop.ycsb;

import com.mongodb.reactivestreams.client.MongoClients;

/** YCSB binding {@code straight-async}: as {@link StraightSyncPeer}, with the reactive driver. */
public final class StraightAsyncPeer extends MongoBinding {

  /** Called by YCSB, once per client thread. */
  public StraightAsyncPeer() {
    super("straight-async");
  }

  @Override
  DocumentStore open(BindingOptions options) {
    options.refusePipelining();
    return StraightStore.open(
        options,
        settings ->
            new ReactiveStore(MongoClients.create(settings), options.database(), RouteCounts.NONE));
  }
}
