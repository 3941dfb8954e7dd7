package dev.onehop.shards.request;

import dev.onehop.wire.ServerAddressName;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Records one command: its name, its servers and its outcome. The trace is in the Reactor context.
 * The default methods record nothing.
 *
 * <p>Thread-safe.
 */
public interface CommandTrace {
  /** A trace that records nothing. */
  CommandTrace NONE = new CommandTrace() {};

  /**
   * The trace of the command that a Reactor context belongs to; {@link #NONE} if the context has no
   * trace.
   */
  static CommandTrace in(ContextView context) {
    return context.<CommandTrace>getOrEmpty(CommandTrace.class).orElse(NONE);
  }

  /** Adds this trace to a command's context. */
  default Context into(Context context) {
    return context.put(CommandTrace.class, this);
  }

  /** Records the command's name and collection; called at least once before the end. */
  default void is(String name, String collection) {}

  /** Records that the command was sent to a shard because the shard owns data of the command. */
  default void sent(String shard, ServerAddressName server) {}

  /** Records that the command was sent to a mongos. */
  default void handedOver(ServerAddressName mongos) {}

  /** Records that a shard refused the command as stale, so that it is routed again. */
  default void refused() {}

  /** Records the end of the command. */
  default void end(Outcome outcome, @Nullable Throwable failure) {}
}
