package dev.onehop.shards.request;

import dev.onehop.wire.ServerAddressName;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Takes note of where one command goes, from those who send it. It travels in the Reactor context.
 *
 * <p>Thread-safe.
 */
public interface CommandTrace {
  /** The trace of the command that is under way in a context; one that notes nothing if none is. */
  static CommandTrace in(ContextView context) {
    return context.<CommandTrace>getOrEmpty(CommandTrace.class).orElse(NoTrace.INSTANCE);
  }

  /** The context for a command whose trace this is. */
  default Context into(Context context) {
    return context.put(CommandTrace.class, this);
  }

  /** It was sent to a shard that owns what it touches, or some of it. */
  void sent(String shard, ServerAddressName server);

  /** It was handed to a mongos. */
  void handedOver(ServerAddressName mongos);

  /** It was refused as stale, and is decided again. */
  void refused();

  /** One of several shards refused its part, which is sent there again. */
  void refusedByOne();
}
