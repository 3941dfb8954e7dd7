package dev.onehop.shards.command;

import dev.onehop.shards.cluster.ConfigServer;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cluster.ShardDirectory;
import dev.onehop.shards.cursor.Cursors;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.message.OpMsg;
import java.util.HashSet;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Commands about sessions. A session is known to the servers that it was used at, and these keep it
 * for half an hour unless a client ends it. So what a client says of its sessions goes to every
 * server that was sent anything; the end of other clients' sessions goes to all shards.
 */
final class Sessions {
  private final Connections connections;
  private final ShardDirectory shards;
  private final ConfigServer config;
  private final Cursors cursors;

  Sessions(Connections connections, ShardDirectory shards, ConfigServer config, Cursors cursors) {
    this.connections = connections;
    this.shards = shards;
    this.config = config;
    this.cursors = cursors;
  }

  /** Whether a command is about the client's own sessions. */
  static boolean isOfOwn(OpMsg command) {
    return SessionCommands.isOfOwn(command.commandName());
  }

  /** Whether a command ends sessions, whosever they are. */
  static boolean isOfAll(OpMsg command) {
    return SessionCommands.isOfAll(command.commandName());
  }

  /** Sends the command on to the servers. It is no failure if one of them can't be reached. */
  Mono<BsonDocument> tell(OpMsg command) {
    return ended(command)
        .then(
            Mono.defer(
                () ->
                    SessionCommands.tell(
                        connections.onEventLoops(), connections.servers(), command)));
  }

  /** Ends sessions at all shards and the config servers. */
  Mono<BsonDocument> kill(OpMsg command) {
    return ended(command)
        .thenMany(Flux.defer(this::primaries))
        .flatMap(primary -> primary.send(command).map(Answer::document))
        .collectList()
        .map(SessionCommands::firstRefusal);
  }

  private Flux<ReplicaSet> primaries() {
    return shards
        .all()
        .flatMapMany(all -> Flux.fromIterable(all.values()))
        .concatWithValues(config.replicaSet());
  }

  private Mono<Void> ended(OpMsg command) {
    Set<BsonValue> ids = new HashSet<>();
    SessionCommands.ended(command).forEach(session -> ids.add(session.get("id")));
    return ids.isEmpty() ? Mono.empty() : cursors.killOf(ids);
  }
}
