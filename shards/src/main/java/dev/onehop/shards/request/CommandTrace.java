package dev.onehop.shards.request;

import dev.onehop.wire.ServerAddressName;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Records one command: what it is, where it is sent and how it ends. It travels in the Reactor
 * context. What is not implemented is not recorded.
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

  /** What it is, said at least once before it ends. */
  default void is(String name, String collection) {}

  /** It was sent to a shard that owns what it touches, or some of it. */
  default void sent(String shard, ServerAddressName server) {}

  /** It was handed to a mongos. */
  default void handedOver(ServerAddressName mongos) {}

  /** It was refused as stale, and is decided again. */
  default void refused() {}

  /** It has ended. */
  default void end(Outcome outcome, @Nullable Throwable failure) {}
}
