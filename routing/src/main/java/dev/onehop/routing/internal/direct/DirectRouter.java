package dev.onehop.routing.internal.direct;

import dev.onehop.routing.internal.catalog.RoutingCatalog;
import dev.onehop.routing.internal.catalog.UnknownNamespaceException;
import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.internal.wire.WirePool;
import io.netty.channel.EventLoopGroup;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Executes a client's commands on a sharded cluster, straight at the shards. Every command carries
 * the version of the routing table that sent it there, so that a shard whose ownership changed
 * refuses it.
 *
 * <p>Thread-safe.
 */
public final class DirectRouter implements AutoCloseable {
  private static final Duration REFRESH_INTERVAL = Duration.ofSeconds(30);
  private static final Set<String> CONFIG_DATABASES = Set.of("admin", "config");
  private static final Set<String> DATABASE_READS = Set.of("listCollections");

  private final WirePool pool;
  private final ClusterClock clock = new ClusterClock();
  private final ConfigServer config;
  private final Cursors cursors = new Cursors();
  private final ShardClient shards;
  private final Reads reads;
  private final Transactions transactions;
  private final ChangeStreams changeStreams;
  private final Ddl ddl;
  private final Disposable refreshing;

  /**
   * A router for the cluster of a config server.
   *
   * @param configServer replica set name and members: {@code name/host:port,host:port}
   * @param group event loops for the connections; stays the caller's
   * @param localAddress the address to connect from, null for the system's choice
   */
  public static DirectRouter of(
      String configServer, EventLoopGroup group, @Nullable SocketAddress localAddress) {
    return new DirectRouter(configServer, new WirePool(group, localAddress));
  }

  private DirectRouter(String configServer, WirePool pool) {
    this.pool = pool;
    this.config = new ConfigServer(ReplicaSet.parse(configServer, pool, clock), clock);
    DefaultConcerns concerns = new DefaultConcerns();
    RoutingCatalog catalog = new RoutingCatalog(config, RoutingCatalog.RefreshListener.NONE);
    ShardDirectory directory = new ShardDirectory(config, pool, clock);
    this.transactions = new Transactions(directory, clock);
    this.shards = new ShardClient(catalog, directory, concerns, transactions);
    this.reads = new Reads(shards, cursors);
    this.changeStreams = new ChangeStreams(directory, cursors, clock);
    this.ddl = new Ddl(config, shards);
    this.refreshing =
        Flux.interval(Duration.ZERO, REFRESH_INTERVAL)
            .onBackpressureDrop()
            .concatMap(tick -> concerns.refresh(config))
            .subscribe();
  }

  /**
   * Executes a command.
   *
   * @return the reply's document; errors of the cluster are replies with {@code ok: 0} or errors of
   *     the Mono, see {@link CommandFailure#toReply}
   */
  public Mono<BsonDocument> execute(OpMsg command) {
    return Mono.defer(
        () -> {
          clock.observe(command.body());
          return run(command).map(clock::stamped);
        });
  }

  private Mono<BsonDocument> run(OpMsg command) {
    return switch (command.commandName()) {
      case "ping" -> Mono.just(new BsonDocument("ok", new BsonDouble(1)));
      case "commitTransaction" -> transactions.commit(command);
      case "abortTransaction" -> transactions.abort(command);
      case "listDatabases" -> ddl.listDatabases(command);
      case "renameCollection" -> ddl.rename(command);
      default -> ChangeStreams.isOne(command) ? changeStreams.open(command) : onData(command);
    };
  }

  private Mono<BsonDocument> onData(OpMsg command) {
    String database = command.database();
    if (CONFIG_DATABASES.contains(database)) {
      return onConfigServer(command);
    }
    if (Transactions.isPart(command)) {
      return transactions.statement(command, onShards(command, database));
    }
    BsonDocument readConcern =
        command.body().isDocument("readConcern")
            ? Transactions.Snapshots.timed(command.body().getDocument("readConcern"), clock)
            : null;
    if (readConcern == null) {
      return onShards(command, database);
    }
    // A snapshot read outside of transactions, which several shards may have to answer.
    BsonDocument body = new BsonDocument();
    body.putAll(command.body());
    body.put("readConcern", readConcern);
    BsonTimestamp time = readConcern.getTimestamp("atClusterTime");
    return onShards(command.withBody(body), database).map(reply -> withSnapshotTime(time, reply));
  }

  /** The client reads on at the time that was picked here. */
  private static BsonDocument withSnapshotTime(BsonTimestamp time, BsonDocument reply) {
    if (!reply.isDocument("cursor")) {
      return reply;
    }
    BsonDocument cursor = new BsonDocument();
    cursor.putAll(reply.getDocument("cursor"));
    cursor.put("atClusterTime", time);
    BsonDocument copy = new BsonDocument();
    copy.putAll(reply);
    copy.put("cursor", cursor);
    return copy;
  }

  /** Runs a command of our own on the config servers' primary. */
  public Mono<BsonDocument> runOnConfigServer(String database, BsonDocument command) {
    return config.run(database, command);
  }

  @Override
  public void close() {
    refreshing.dispose();
    pool.close();
  }

  private Mono<BsonDocument> onConfigServer(OpMsg command) {
    return switch (command.commandName()) {
      case "getMore" -> getMore(command);
      case "killCursors" -> killCursors(command);
      default ->
          config
              .replicaSet()
              .send(command)
              .map(
                  answer -> {
                    BsonDocument reply = answer.document();
                    long id = CursorReplies.id(reply);
                    if (id == 0) {
                      return reply;
                    }
                    long kept =
                        cursors.add(id, new ShardCursor(config.replicaSet(), command, answer));
                    return kept == id ? reply : CursorReplies.withId(reply, kept);
                  });
    };
  }

  private Mono<BsonDocument> onShards(OpMsg command, String database) {
    String name = command.commandName();
    return switch (name) {
      case "find" -> reads.find(command, namespace(command));
      case "aggregate" ->
          command.body().isString(name)
              ? reads.aggregate(command, namespace(command))
              : Mono.error(CommandFailure.notSupported("an aggregation on a database"));
      case "count" -> reads.count(command, namespace(command));
      case "distinct" -> reads.distinct(command, namespace(command));
      case "listIndexes" -> ddl.listIndexes(command, namespace(command));
      case "create" -> creatingDatabase(database, ddl.create(command, database));
      case "drop" -> ddl.drop(command, database);
      case "dropDatabase" -> ddl.dropDatabase(database);
      case "findAndModify", "findandmodify" ->
          creatingDatabase(database, reads.onOneShard(command, namespace(command), "query"));
      case "insert", "update", "delete" ->
          creatingDatabase(database, WriteBatch.run(shards, command, namespace(command)));
      case "getMore" -> getMore(command);
      case "killCursors" -> killCursors(command);
      default -> {
        if (Ddl.isOnEveryOwner(name)) {
          yield creatingDatabase(database, ddl.onEveryOwner(command, namespace(command)));
        }
        yield DATABASE_READS.contains(name)
            ? onPrimaryShard(command, database)
            : Mono.error(
                new CommandFailure(
                    ErrorCodes.COMMAND_NOT_FOUND,
                    "CommandNotFound",
                    "no such command: '" + name + "'"));
      }
    };
  }

  private static String namespace(OpMsg command) {
    return command.database() + "." + command.body().getString(command.commandName()).getValue();
  }

  /** The first write to a database creates it, as mongos does. */
  private Mono<BsonDocument> creatingDatabase(String database, Mono<BsonDocument> write) {
    return write.onErrorResume(
        UnknownNamespaceException.class,
        e ->
            config
                .run(
                    "admin",
                    new BsonDocument("_configsvrCreateDatabase", new BsonString(database))
                        .append("writeConcern", new BsonDocument("w", new BsonString("majority"))))
                .then(write));
  }

  private Mono<BsonDocument> onPrimaryShard(OpMsg command, String database) {
    return config
        .find("databases", new BsonDocument("_id", new BsonString(database)), new BsonDocument())
        .flatMap(
            found ->
                found.isEmpty()
                    ? Mono.just(
                        CursorReplies.first(
                            database + ".$cmd." + command.commandName(), 0, List.of()))
                    : shards
                        .shards()
                        .shard(found.get(0).getString("primary").getValue())
                        .flatMap(replicaSet -> replicaSet.send(command))
                        .map(ReplicaSet.Answer::document));
  }

  private Mono<BsonDocument> getMore(OpMsg command) {
    long id = command.body().getNumber("getMore").longValue();
    Cursors.OpenCursor cursor = cursors.find(id);
    if (cursor == null) {
      return Mono.error(
          new CommandFailure(
              ErrorCodes.CURSOR_NOT_FOUND, "CursorNotFound", "cursor id " + id + " not found"));
    }
    return cursor
        .getMore(command.body(), id)
        .doOnNext(
            reply -> {
              if (CursorReplies.id(reply) == 0) {
                cursors.remove(id);
              }
            });
  }

  private Mono<BsonDocument> killCursors(OpMsg command) {
    BsonArray killed = new BsonArray();
    BsonArray notFound = new BsonArray();
    return Flux.fromIterable(command.body().getArray("cursors", new BsonArray()))
        .concatMap(
            (BsonValue id) ->
                cursors
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
}
