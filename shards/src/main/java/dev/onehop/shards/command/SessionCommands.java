package dev.onehop.shards.command;

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
 * Commands about sessions. A session is known to the servers that it was used at, and these keep it
 * for half an hour unless a client ends it. So what a client says of its sessions goes to every
 * server that was sent anything.
 */
public final class SessionCommands {
  /** A client that is closed waits for it. */
  public static final Duration MOST_WAITING = Duration.ofSeconds(2);

  private static final Set<String> OF_OWN = Set.of("endSessions", "refreshSessions");
  private static final Set<String> OF_ALL =
      Set.of("killSessions", "killAllSessions", "killAllSessionsByPattern");

  private SessionCommands() {}

  /** Whether a command is about the client's own sessions. */
  public static boolean isOfOwn(String command) {
    return OF_OWN.contains(command);
  }

  /** Whether a command ends sessions, whichever client has begun them. */
  public static boolean isOfAll(String command) {
    return OF_ALL.contains(command);
  }

  /**
   * Sends a command to every server that was sent anything. It is no failure if one of them can't
   * be reached.
   *
   * @param servers those that were sent anything
   * @return the first refusal, or an answer that is ok
   */
  public static Mono<BsonDocument> tell(
      WirePool pool, Set<ServerAddressName> servers, OpMsg command) {
    return Flux.fromIterable(servers)
        .flatMap(
            server ->
                pool.send(server, command)
                    .map(reply -> (BsonDocument) reply.body())
                    .timeout(MOST_WAITING)
                    .onErrorComplete(),
            Integer.MAX_VALUE)
        .collectList()
        .map(SessionCommands::firstRefusal);
  }

  /** The first of these replies that is not ok, or one that is. */
  public static BsonDocument firstRefusal(Collection<BsonDocument> replies) {
    return replies.stream()
        .filter(reply -> !ErrorCodes.ok(reply))
        .findFirst()
        .orElseGet(() -> new BsonDocument("ok", new BsonDouble(1)));
  }

  /** The sessions that a command ends; empty if it ends none or does not name them. */
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
