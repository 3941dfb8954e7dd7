package dev.onehop.shards.request;

import dev.onehop.wire.ServerAddressName;

/** For commands that nobody traces. */
enum NoTrace implements CommandTrace {
  INSTANCE;

  @Override
  public void sent(String shard, ServerAddressName server) {}

  @Override
  public void handedOver(ServerAddressName mongos) {}

  @Override
  public void refused() {}

  @Override
  public void refusedByOne() {}
}
