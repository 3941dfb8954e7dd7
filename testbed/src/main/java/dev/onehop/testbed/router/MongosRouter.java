package dev.onehop.testbed.router;

import dev.onehop.routing.internal.catalog.RoutingCatalog;
import dev.onehop.routing.internal.command.Refreshes;
import dev.onehop.routing.internal.direct.ClusterRouter;
import dev.onehop.routing.internal.direct.ClusterState;
import dev.onehop.routing.internal.direct.CommandTypes;
import dev.onehop.routing.internal.direct.HandOver;
import dev.onehop.routing.internal.direct.Transactions;
import dev.onehop.routing.internal.direct.shard.CommandFailure;
import dev.onehop.routing.internal.direct.shard.ErrorCodes;
import dev.onehop.routing.internal.direct.shard.ServerSet;
import dev.onehop.routing.internal.direct.shard.Versions;
import dev.onehop.routing.internal.wire.Connections;
import dev.onehop.routing.internal.wire.OpMsg;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonTimestamp;
import reactor.core.publisher.Mono;

/**
 * A router that is the mongos of its clients: it also runs transactions, change streams and the
 * creating and dropping of collections, which an application has a real mongos do.
 *
 * <p>Thread-safe.
 */
final class MongosRouter extends ClusterRouter {
  private static final Duration CLUSTER_REFRESH = Duration.ofSeconds(30);

  private final ClusterState cluster;
  private final ClientTransactions transactions;
  private final ChangeStreams changeStreams;
  private final Ddl ddl;

  /**
   * @param seeds the cluster's config servers; taken over
   * @param watcher watches the shards' servers
   * @param connections to all of them; taken over
   */
  MongosRouter(ServerSet seeds, ServerSet.Factory watcher, Connections connections) {
    this(
        new ClusterState(
            seeds,
            watcher,
            connections,
            new Refreshes(CLUSTER_REFRESH, RoutingCatalog.RefreshListener.NONE),
            Versions.ATTACHED));
  }

  private MongosRouter(ClusterState cluster) {
    super(cluster, new Refusal());
    this.cluster = cluster;
    this.transactions = new ClientTransactions(cluster.transactions(), cluster.clock());
    this.changeStreams = new ChangeStreams(cluster.directory(), cluster.cursors(), cluster.clock());
    this.ddl = new Ddl(cluster.config(), cluster.shards(), cluster.catalog());
  }

  /** There is no other mongos to hand anything to. */
  private static final class Refusal implements HandOver {
    @Override
    public Mono<Boolean> isPossible() {
      return Mono.just(false);
    }

    @Override
    public Mono<BsonDocument> send(OpMsg command, String what) {
      return Mono.error(CommandFailure.notSupported(what));
    }
  }

  /** Runs a command of our own on the config servers' primary. */
  Mono<BsonDocument> runOnConfigServer(String database, BsonDocument command) {
    return cluster.config().run(database, command);
  }

  @Override
  protected Mono<BsonDocument> run(OpMsg command) {
    cluster.clock().observe(command.body());
    if (Transactions.isPart(command) || Transactions.isEnd(command)) {
      CommandTypes.checkSession(command);
    }
    return switch (command.commandName()) {
      case "ping" -> Mono.just(new BsonDocument("ok", new BsonDouble(1)));
      case "commitTransaction" -> transactions.commit(command);
      case "abortTransaction" -> transactions.abort(command);
      case "listDatabases" -> listDatabases(command);
      case "renameCollection" -> ddl.rename(command);
      default -> ChangeStreams.isOne(command) ? changeStreams.open(command) : onData(command);
    };
  }

  private Mono<BsonDocument> onData(OpMsg command) {
    if (isOfConfigServers(command.database())) {
      return onConfigServer(command);
    }
    if (Transactions.isPart(command)) {
      return transactions.statement(command, onShards(command));
    }
    BsonDocument readConcern =
        command.body().isDocument("readConcern")
            ? Snapshots.timed(command.body().getDocument("readConcern"), cluster.clock())
            : null;
    if (readConcern == null) {
      return onShards(command);
    }
    // A snapshot read outside of transactions, which several shards may have to answer.
    BsonDocument body = new BsonDocument();
    body.putAll(command.body());
    body.put("readConcern", readConcern);
    cluster.clock().gossip(body);
    BsonTimestamp time = readConcern.getTimestamp("atClusterTime");
    return onShards(command.withBody(body)).map(reply -> Snapshots.withTime(time, reply));
  }

  @Override
  protected Mono<BsonDocument> other(OpMsg command) {
    String database = command.database();
    return switch (command.commandName()) {
      case "create" -> creatingDatabase(command, ddl.create(command, database));
      case "drop" -> ddl.drop(command, database);
      case "dropDatabase" -> ddl.dropDatabase(database);
      default ->
          Ddl.isOnEveryOwner(command.commandName())
              ? creatingDatabase(command, ddl.onEveryOwner(command, namespace(command)))
              : Mono.error(
                  new CommandFailure(
                      ErrorCodes.COMMAND_NOT_FOUND,
                      "CommandNotFound",
                      "no such command: '" + command.commandName() + "'"));
    };
  }
}
