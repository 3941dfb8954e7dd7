package dev.onehop.shards.command;

import dev.onehop.shards.catalog.UnknownNamespaceException;
import dev.onehop.shards.cluster.DriverRetries;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.request.ClusterFacts;
import dev.onehop.shards.request.CommandRouter;
import dev.onehop.shards.request.Forwarded;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Executes clients' commands on a sharded cluster, straight at the shards. Every command carries
 * the version of the routing table that sent it there, so that a shard whose ownership changed
 * refuses it. What becomes of the commands that are no reads and no writes of data is up to the
 * subclass.
 *
 * <p>Thread-safe.
 */
public abstract class ClusterRouter implements CommandRouter {
  private static final Set<String> CONFIG_DATABASES = Set.of("admin", "config");

  private final ClusterState cluster;
  private final HandOver handOver;
  private final Reads reads;
  private final Explain explain;
  private final OneShardForwarding forwarding;
  private final StartCheck startCheck;
  private final ShardKeyChange keyChanges;
  private final Sessions sessions;
  private final Listings listings;
  private final TransactionTurns turns = new TransactionTurns();

  /**
   * @param cluster taken over
   * @param handOver takes what is not executed here
   */
  protected ClusterRouter(ClusterState cluster, HandOver handOver) {
    this.cluster = cluster;
    this.handOver = handOver;
    this.reads = new Reads(cluster.shards(), cluster.cursors(), handOver);
    this.explain = new Explain(cluster.shards(), handOver);
    this.forwarding = cluster.forwarding();
    this.startCheck = cluster.startCheck();
    this.keyChanges = new ShardKeyChange(cluster.transactions());
    this.sessions =
        new Sessions(
            cluster.connections(), cluster.directory(), cluster.config(), cluster.cursors());
    this.listings = new Listings(cluster.config(), cluster.shards(), cluster.cursors());
  }

  /**
   * Executes a command whose fields have the right types and that is not about sessions, once the
   * router has {@linkplain #startedOrSilent started}.
   */
  protected abstract Mono<BsonDocument> run(OpMsg command);

  /** Executes a command on a database of the shards that {@link #onShards} does not know. */
  protected abstract Mono<BsonDocument> other(OpMsg command);

  /**
   * Executes a command on a collection, by its routing table.
   *
   * @param here executes it when subscribed to
   */
  protected Mono<BsonDocument> byTable(OpMsg command, String namespace, Mono<BsonDocument> here) {
    return here;
  }

  @Override
  public Mono<Void> started() {
    return startCheck.done();
  }

  /** What the cluster's servers are, as of the start; null before. */
  public @Nullable ClusterFacts facts() {
    return startCheck.known();
  }

  @Override
  public @Nullable Forwarded tryForward(
      ByteBuf frame, Forwarded.Carrier carrier, Forwarded.Outcome outcome) {
    return forwarding.tryForward(frame, carrier, outcome);
  }

  @Override
  public Forwarded.Carrier carrierOn(@Nullable EventLoop loop) {
    return forwarding.carrierOn(loop);
  }

  /**
   * @return an error of the Mono is to be answered by {@link CommandFailure#toReply}
   */
  @Override
  public Mono<BsonDocument> execute(OpMsg asked) {
    return Mono.defer(
        () -> {
          CommandTypes.check(asked);
          OpMsg command = Acknowledgement.of(asked);
          if (Sessions.isOfOwn(command)) {
            return onSessions(command);
          }
          Mono<BsonDocument> answer =
              startedOrSilent()
                  .then(Mono.defer(() -> Sessions.isOfAll(command) ? kill(command) : run(command)))
                  .contextWrite(
                      context -> {
                        DriverRetries driver = cluster.driver();
                        return driver == null ? context : driver.into(context);
                      });
          return turns
              .inTurn(Transactions.isPart(command) ? command.body().get("lsid") : null, answer)
              .map(cluster.clock()::stamped)
              .onErrorMap(failure -> Transactions.labelled(command, failure));
        });
  }

  /** Executes a command about the client's own sessions, at the servers that know them. */
  protected Mono<BsonDocument> onSessions(OpMsg command) {
    return sessions.tell(command);
  }

  private Mono<BsonDocument> kill(OpMsg command) {
    return ifHandedOver(
        () -> handOver.send(command, command.commandName()), () -> sessions.kill(command));
  }

  /** Lists the databases of the cluster. */
  protected final Mono<BsonDocument> listDatabases(OpMsg command) {
    return ifHandedOver(
        () -> handOver.send(command, "listDatabases"), () -> listings.databases(command));
  }

  /** One or the other, by whether there is a server that takes commands over. */
  protected final Mono<BsonDocument> ifHandedOver(
      Supplier<Mono<BsonDocument>> there, Supplier<Mono<BsonDocument>> otherwise) {
    return handOver.isPossible().flatMap(possible -> possible ? there.get() : otherwise.get());
  }

  /** Whether the config servers have a database. */
  protected static boolean isOfConfigServers(String database) {
    return CONFIG_DATABASES.contains(database);
  }

  /** Executes a command on the config servers, be it one on a cursor. */
  protected final Mono<BsonDocument> onConfigServer(OpMsg command) {
    ReplicaSet servers = cluster.config().replicaSet();
    return switch (command.commandName()) {
      case "getMore" -> getMore(command);
      case "killCursors" -> killCursors(command);
      default ->
          servers.send(command).map(answer -> cluster.cursors().keep(servers, command, answer));
    };
  }

  /** Executes a command on data at the shards, or as {@link #other}. */
  protected final Mono<BsonDocument> onShards(OpMsg command) {
    String name = command.commandName();
    return switch (name) {
      case "aggregate" ->
          command.body().isString(name)
              ? onCollection(command, reads::aggregate)
              : handOver.send(command, "an aggregation on a database");
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
                  creatingDatabase(
                      each,
                      keyChanges.run(each, again -> WriteBatch.run(cluster.shards(), again, on))));
      case "insert", "delete" ->
          onCollection(
              command,
              (each, on) -> creatingDatabase(each, WriteBatch.run(cluster.shards(), each, on)));
      case "listIndexes" -> onCollection(command, listings::indexes);
      case "explain" -> explain.run(command);
      case "getMore" -> getMore(command);
      case "killCursors" -> killCursors(command);
      case "listCollections" -> listings.collections(command, command.database());
      default -> other(command);
    };
  }

  /** Runs a command on a collection that shards know under the name that clients do. */
  private Mono<BsonDocument> onCollection(
      OpMsg command, BiFunction<OpMsg, String, Mono<BsonDocument>> run) {
    String namespace = namespace(command);
    Mono<BsonDocument> here =
        cluster
            .shards()
            .isShardedTimeSeries(namespace)
            .flatMap(
                timeSeries ->
                    timeSeries
                        ? handOver.send(command, "a sharded time series collection")
                        : run.apply(command, namespace));
    return byTable(command, namespace, here);
  }

  /** The full name of the collection that a command is on. */
  protected static String namespace(OpMsg command) {
    return command.database() + "." + command.body().getString(command.commandName()).getValue();
  }

  /** The first write to a database creates it, as mongos does. */
  protected final Mono<BsonDocument> creatingDatabase(OpMsg command, Mono<BsonDocument> write) {
    return write.onErrorResume(
        UnknownNamespaceException.class,
        e ->
            handOver
                .isPossible()
                .flatMap(
                    possible ->
                        possible
                            ? handOver.send(command, "a new database")
                            : createDatabase(command.database()).then(write)));
  }

  private Mono<BsonDocument> createDatabase(String database) {
    return cluster
        .config()
        .run(
            "admin",
            new BsonDocument("_configsvrCreateDatabase", new BsonString(database))
                .append("writeConcern", new BsonDocument("w", new BsonString("majority"))));
  }

  /** Reads on from a cursor. */
  protected final Mono<BsonDocument> getMore(OpMsg command) {
    return cluster.cursors().getMore(command.body());
  }

  /** Ends cursors. */
  protected final Mono<BsonDocument> killCursors(OpMsg command) {
    BsonArray killed = new BsonArray();
    BsonArray notFound = new BsonArray();
    return Flux.fromIterable(command.body().getArray("cursors", new BsonArray()))
        .concatMap(
            (BsonValue id) ->
                cluster
                    .cursors()
                    .kill(id.asNumber().longValue())
                    .doOnNext(
                        found ->
                            (found ? killed : notFound)
                                .add(new BsonInt64(id.asNumber().longValue()))))
        .then(
            Mono.fromCallable(
                () ->
                    new BsonDocument("cursorsKilled", killed)
                        .append("cursorsNotFound", notFound)
                        .append("cursorsAlive", new BsonArray())
                        .append("cursorsUnknown", new BsonArray())
                        .append("ok", new BsonDouble(1))));
  }

  @Override
  public void close() {
    cluster.close();
  }
}
