package dev.onehop.shards.command;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Runs the commands of a session's transactions one after another, in the order of their arrival,
 * as a mongos does. The order matters if a client cancels a statement, because it then aborts the
 * transaction over another connection. If the abort overtook the statement, it would find no
 * transaction. The statement would then start a transaction that never ends.
 *
 * <p>Thread-safe.
 */
public final class TransactionTurns {
  /** The last turn of each session. A session's entry is removed when its last turn ends. */
  private final Map<BsonValue, Turn> last = new ConcurrentHashMap<>();

  /** The turn of a command that belongs to no transaction. */
  private final Turn none = new Turn(null, Mono.empty());

  /** The turn of one command. */
  public final class Turn {
    private final @Nullable BsonValue session;
    private final Mono<Void> before;
    private final Sinks.Empty<Void> ended = Sinks.empty();

    private Turn(@Nullable BsonValue session, Mono<Void> before) {
      this.session = session;
      this.before = before;
    }

    /** Ends this turn. The next command starts once this turn and all earlier turns have ended. */
    public void end() {
      if (session != null) {
        BsonValue of = session;
        before.subscribe(
            null,
            null,
            () -> {
              last.remove(of, this);
              ended.tryEmitEmpty();
            });
      }
    }
  }

  /**
   * Returns the turn of a command if the command need not wait.
   *
   * @param session the session of a transaction's command; null for any other command, which never
   *     waits
   * @return null if another command has the turn
   */
  public @Nullable Turn begin(@Nullable BsonValue session) {
    if (session == null) {
      return none;
    }
    Turn turn = new Turn(session, Mono.empty());
    return last.putIfAbsent(session, turn) == null ? turn : null;
  }

  /**
   * Runs a command in its turn.
   *
   * @param session the session of a transaction's command; null for any other command, which never
   *     waits
   */
  public <T> Mono<T> inTurn(@Nullable BsonValue session, Mono<T> command) {
    return session == null
        ? command
        : Mono.defer(
            () -> {
              Turn turn =
                  last.compute(
                      session,
                      (same, before) ->
                          new Turn(same, before == null ? Mono.empty() : before.ended.asMono()));
              // Ends the turn before the reply is emitted, or after the command is cancelled.
              return turn.before
                  .then(command)
                  .doOnTerminate(turn::end)
                  .doFinally(end -> turn.end());
            });
  }
}
