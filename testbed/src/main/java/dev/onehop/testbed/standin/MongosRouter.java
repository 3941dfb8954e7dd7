package dev.onehop.testbed.standin;

import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.command.ClusterRouter;
import dev.onehop.shards.command.ClusterState;
import dev.onehop.shards.command.SessionCommands;
import dev.onehop.shards.command.TransactionCommands;
import dev.onehop.testbed.standin.command.CommandTypes;
import dev.onehop.testbed.standin.command.ShardedCommands;
import dev.onehop.testbed.standin.command.Transactions;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonTimestamp;
import reactor.core.publisher.Mono;

/**
 * A router that replaces a mongos for its clients. In addition to reads and writes, it runs
 * transactions and change streams, and creates and drops collections.
 *
 * <p>Thread-safe.
 */
final class MongosRouter extends ClusterRouter {
  private static final Set<String> CONFIG_DATABASES = Set.of("admin", "config");

  private final ClusterState cluster;
  private final ShardedCommands commands;
  private final ClientTransactions transactions;
  private final ChangeStreams changeStreams;
  private final Ddl ddl;
  private final Sharding sharding;
  private final MovedRanges movedRanges;

  /**
   * @param cluster the cluster's state; the router closes it
   * @param waitingStreams whether change streams wait until idle shards and the config servers
   *     report a later time, as with a mongos
   */
  MongosRouter(ClusterState cluster, boolean waitingStreams) {
    super(cluster);
    this.cluster = cluster;
    this.movedRanges = new MovedRanges(cluster.config());
    Transactions atShards = new Transactions(cluster.directory(), cluster.clock());
    this.commands = new ShardedCommands(cluster, atShards);
    this.transactions = new ClientTransactions(atShards, cluster.clock(), movedRanges);
    this.changeStreams =
        new ChangeStreams(
            cluster.config(),
            cluster.directory(),
            cluster.cursors(),
            cluster.clock(),
            waitingStreams);
    this.ddl = new Ddl(cluster, commands.shards());
    this.sharding = new Sharding(cluster);
  }

  /** Runs a command of the router itself on the config servers' primary. */
  Mono<BsonDocument> runOnConfigServer(String database, BsonDocument command) {
    return cluster.config().run(database, command);
  }

  /**
   * Ends sessions in the background, as a mongos does. Otherwise, the close of a client would wait
   * for a frozen shard.
   */
  @Override
  protected Mono<BsonDocument> onSessions(OpMsg command) {
    return Mono.fromCallable(
        () -> {
          super.onSessions(command).subscribe(told -> {}, failure -> {});
          return new BsonDocument("ok", new BsonDouble(1));
        });
  }

  @Override
  public Mono<BsonDocument> execute(OpMsg asked) {
    return Mono.defer(
        () -> {
          CommandTypes.check(asked);
          return super.execute(asked);
        });
  }

  @Override
  protected Mono<BsonDocument> run(OpMsg command) {
    if (SessionCommands.isOfAll(command.commandName())) {
      return endedCursors(command).then(commands.killSessions(command));
    }
    cluster.clock().observe(command.body());
    if (TransactionCommands.isPart(command) || TransactionCommands.isEnd(command)) {
      CommandTypes.checkSession(command);
    }
    return switch (command.commandName()) {
      case "ping" -> Mono.just(new BsonDocument("ok", new BsonDouble(1)));
      case "commitTransaction" -> transactions.commit(command);
      case "abortTransaction" -> transactions.abort(command);
      case "listDatabases" -> commands.listDatabases(command);
      case "renameCollection" -> ddl.rename(command);
      case "appendOplogNote" -> commands.appendOplogNote(command);
      default ->
          Sharding.isOne(command)
              ? sharding.run(command)
              : ChangeStreams.isOne(command) ? changeStreams.open(command) : onData(command);
    };
  }

  private Mono<BsonDocument> onData(OpMsg command) {
    if (CONFIG_DATABASES.contains(command.database())) {
      return onConfigServer(command);
    }
    if (TransactionCommands.isPart(command)) {
      return transactions.statement(command, onShards(command));
    }
    BsonDocument asked =
        command.body().isDocument("readConcern")
            ? command.body().getDocument("readConcern")
            : new BsonDocument();
    BsonDocument readConcern = Snapshots.timed(asked, cluster.clock());
    if (readConcern == null) {
      return asked.isTimestamp("atClusterTime")
          ? asOf(asked.getTimestamp("atClusterTime"), command)
          : onShards(command);
    }
    // A snapshot read outside of a transaction may need several shards. All of them read at this
    // time.
    BsonDocument body = new BsonDocument();
    body.putAll(command.body());
    body.put("readConcern", readConcern);
    cluster.clock().gossip(body);
    BsonTimestamp time = readConcern.getTimestamp("atClusterTime");
    return asOf(time, command.withBody(body)).map(reply -> Snapshots.withTime(time, reply));
  }

  private Mono<BsonDocument> onConfigServer(OpMsg command) {
    ReplicaSet servers = cluster.config().replicaSet();
    return switch (command.commandName()) {
      case "getMore" -> getMore(command);
      case "killCursors" -> killCursors(command);
      default ->
          servers.send(command).map(answer -> cluster.cursors().keep(servers, command, answer));
    };
  }

  private Mono<BsonDocument> asOf(BsonTimestamp time, OpMsg command) {
    return onShards(command).flatMap(reply -> movedRanges.check(command, time, reply, List.of()));
  }

  private Mono<BsonDocument> onShards(OpMsg command) {
    Mono<BsonDocument> known = commands.run(command);
    return known == null ? other(command) : known;
  }

  private Mono<BsonDocument> other(OpMsg command) {
    String database = command.database();
    return switch (command.commandName()) {
      case "getMore" -> getMore(command);
      case "killCursors" -> killCursors(command);
      case "create" -> commands.creatingDatabase(command, ddl.create(command, database));
      case "drop" -> ddl.drop(command, database);
      case "dropDatabase" -> ddl.dropDatabase(database);
      default ->
          Ddl.isOnEveryOwner(command.commandName())
              ? commands.creatingDatabase(command, ddl.onEveryOwner(command, namespace(command)))
              : Mono.error(
                  new CommandFailure(
                      ErrorCodes.COMMAND_NOT_FOUND,
                      "CommandNotFound",
                      "no such command: '" + command.commandName() + "'"));
    };
  }
}
