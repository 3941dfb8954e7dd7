package dev.onehop.testbed.standin.command;

import dev.onehop.shards.catalog.ShardedTimeSeriesException;
import dev.onehop.shards.catalog.UnknownNamespaceException;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.command.ClusterRouter;
import dev.onehop.shards.command.ClusterState;
import dev.onehop.shards.command.SessionCommands;
import dev.onehop.shards.command.ShardClient;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.OpMsg;
import java.util.Map;
import java.util.function.BiFunction;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Executes commands on documents and on metadata at one or several shards, as a mongos does.
 *
 * <p>Thread-safe.
 */
public final class ShardedCommands {
  private final ClusterState cluster;
  private final ShardClient shards;
  private final Transactions transactions;
  private final Reads reads;
  private final Explain explain;
  private final ShardKeyChange keyChanges;
  private final Listings listings;

  public ShardedCommands(ClusterState cluster, Transactions transactions) {
    this.cluster = cluster;
    this.shards = cluster.shards().with(transactions);
    this.transactions = transactions;
    this.reads = new Reads(shards, cluster.cursors(), transactions);
    this.explain = new Explain(shards);
    this.keyChanges = new ShardKeyChange(transactions);
    this.listings = new Listings(cluster.config(), shards, cluster.cursors());
  }

  /** Executes a command. Returns null if this class does not support the command. */
  public @Nullable Mono<BsonDocument> run(OpMsg command) {
    String name = command.commandName();
    return switch (name) {
      case "aggregate" ->
          command.body().isString(name)
              ? onCollection(command, reads::aggregate)
              : Mono.error(CommandFailure.notSupported("an aggregation on a database"));
      case "find" -> onCollection(command, reads::find);
      case "count" -> onCollection(command, reads::count);
      case "distinct" -> onCollection(command, reads::distinct);
      case "findAndModify", "findandmodify" ->
          onCollection(
              command,
              (each, on) ->
                  creatingDatabase(
                      each, keyChanges.run(each, again -> reads.findAndModify(again, on))));
      case "update" ->
          onCollection(
              command,
              (each, on) ->
                  creatingDatabase(each, keyChanges.run(each, again -> write(again, on))));
      case "insert", "delete" ->
          onCollection(command, (each, on) -> creatingDatabase(each, write(each, on)));
      case "listIndexes" -> onCollection(command, listings::indexes);
      case "explain" -> explain.run(command);
      case "listCollections" -> listings.collections(command, command.database());
      default -> null;
    };
  }

  /** Lists the databases of the cluster. */
  public Mono<BsonDocument> listDatabases(OpMsg command) {
    return listings.databases(command);
  }

  private Mono<BsonDocument> write(OpMsg command, String namespace) {
    return BroadcastBatch.run(shards, transactions, command, namespace);
  }

  /** Runs a command on a collection. Refuses a sharded time series. */
  private static Mono<BsonDocument> onCollection(
      OpMsg command, BiFunction<OpMsg, String, Mono<BsonDocument>> run) {
    return run.apply(command, ClusterRouter.namespace(command))
        .onErrorMap(
            ShardedTimeSeriesException.class,
            e -> CommandFailure.notSupported("a sharded time series collection"));
  }

  /** Creates the database at the first write to it, as mongos does. */
  public Mono<BsonDocument> creatingDatabase(OpMsg command, Mono<BsonDocument> write) {
    return write.onErrorResume(
        UnknownNamespaceException.class, e -> createDatabase(command.database()).then(write));
  }

  private Mono<BsonDocument> createDatabase(String database) {
    return cluster
        .config()
        .run(
            "admin",
            new BsonDocument("_configsvrCreateDatabase", new BsonString(database))
                .append("writeConcern", new BsonDocument("w", new BsonString("majority"))));
  }

  /** Returns the client for commands with shard versions, also in transactions. */
  public ShardClient shards() {
    return shards;
  }

  /** Ends sessions of all users at all shards and the config servers. */
  public Mono<BsonDocument> killSessions(OpMsg command) {
    return send(command, primaries().concatWithValues(cluster.config().replicaSet()));
  }

  /** Writes a note to the oplog of each shard. */
  public Mono<BsonDocument> appendOplogNote(OpMsg command) {
    return send(command, primaries());
  }

  private Flux<ReplicaSet> primaries() {
    return shards.shards().all().flatMapIterable(Map::values);
  }

  private static Mono<BsonDocument> send(OpMsg command, Flux<ReplicaSet> primaries) {
    return primaries
        .flatMap(primary -> primary.send(command).map(Answer::document))
        .collectList()
        .map(SessionCommands::firstRefusal);
  }
}
