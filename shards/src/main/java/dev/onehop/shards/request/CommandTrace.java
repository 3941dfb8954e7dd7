package dev.onehop.shards.request;

import dev.onehop.wire.ServerAddressName;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Records where one command is sent. It travels in the Reactor context. What is not implemented is
 * not recorded.
 *
 * <p>Thread-safe.
 */
public interface CommandTrace {
  /** Records nothing. */
  CommandTrace NONE = new CommandTrace() {};

  /** The trace of the command that is under way in a context; {@link #NONE} without one. */
  static CommandTrace in(ContextView context) {
    return context.<CommandTrace>getOrEmpty(CommandTrace.class).orElse(NONE);
  }

  /** The context for a command whose trace this is. */
  default Context into(Context context) {
    return context.put(CommandTrace.class, this);
  }

  /** It was sent to a shard that owns what it touches, or some of it. */
  default void sent(String shard, ServerAddressName server) {}

  /** It was handed to a mongos. */
  default void handedOver(ServerAddressName mongos) {}

  /** It was refused as stale, and is decided again. */
  default void refused() {}

  /** One of several shards refused its part, which is sent there again. */
  default void refusedByOne() {}
}
