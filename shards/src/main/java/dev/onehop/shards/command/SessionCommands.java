package dev.onehop.shards.command;

import dev.onehop.wire.NoAnswer;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.WirePool;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonValue;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Commands on sessions. A server keeps a session for half an hour after its last use, unless a
 * client ends it. A command on sessions therefore goes to every server that has received any
 * command.
 */
public final class SessionCommands {
  /**
   * The longest wait for the reply of a server. It is short, because a client that is closed waits
   * for these replies.
   */
  public static final Duration MOST_WAITING = Duration.ofSeconds(2);

  private static final Set<String> OF_OWN = Set.of("endSessions", "refreshSessions");
  private static final Set<String> OF_ALL =
      Set.of("killSessions", "killAllSessions", "killAllSessionsByPattern");

  private SessionCommands() {}

  /** Whether a command ends or refreshes the client's own sessions. */
  public static boolean isOfOwn(String command) {
    return OF_OWN.contains(command);
  }

  /** Whether a command ends sessions of any client. */
  public static boolean isOfAll(String command) {
    return OF_ALL.contains(command);
  }

  /**
   * Sends a command to every server that has received any command. An unreachable server is not a
   * failure.
   *
   * @param servers the servers that have received any command
   * @return the first refusal, or a reply that is ok
   */
  public static Mono<BsonDocument> tell(
      WirePool pool, Set<ServerAddressName> servers, OpMsg command) {
    return Flux.fromIterable(servers)
        .flatMap(
            server ->
                pool.send(server, command)
                    .map(reply -> (BsonDocument) reply.body())
                    .timeout(MOST_WAITING, NoAnswer.within(MOST_WAITING))
                    .onErrorComplete(),
            Integer.MAX_VALUE)
        .collectList()
        .map(SessionCommands::firstRefusal);
  }

  /** The first of these replies that is not ok; a reply that is ok if all are ok. */
  public static BsonDocument firstRefusal(Collection<BsonDocument> replies) {
    return replies.stream()
        .filter(reply -> !ErrorCodes.ok(reply))
        .findFirst()
        .orElseGet(() -> new BsonDocument("ok", new BsonDouble(1)));
  }

  /**
   * The sessions that a command ends; empty if the command ends no sessions, or does not name them.
   */
  public static Set<BsonDocument> ended(OpMsg command) {
    Set<BsonDocument> ended = new HashSet<>();
    if (!command.commandName().equals("refreshSessions")
        && command.body().get(command.commandName()) instanceof BsonArray given) {
      for (BsonValue each : given) {
        if (each instanceof BsonDocument session && session.containsKey("id")) {
          ended.add(session);
        }
      }
    }
    return ended;
  }
}
