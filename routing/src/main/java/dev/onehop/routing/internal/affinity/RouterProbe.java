package dev.onehop.routing.internal.affinity;

import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.TopologyVersion;
import dev.onehop.wire.NoAnswer;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.WirePool;
import dev.onehop.wire.connection.WireSettings;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.NotSentException;
import dev.onehop.wire.message.OpMsg;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reads the cluster id of a mongos, and measures the distances of shards over it. The probe uses
 * separate connections, which are closed after a second without a query.
 *
 * <p>Thread-safe.
 */
public final class RouterProbe implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Duration LONGEST = TIMEOUT.multipliedBy(2);

  /**
   * The number of round trips per measurement. Even on a busy machine, the shortest of seven is
   * close to the time that the network takes.
   */
  private static final int ROUNDS = 7;

  private static final Duration IDLE = Duration.ofSeconds(1);

  private final WirePool pool;

  /**
   * The identity of a mongos.
   *
   * @param clusterId the id of its cluster; null if the mongos does not return it
   * @param processId the id of its process; null before 4.4
   */
  public record Identity(@Nullable ObjectId clusterId, @Nullable ObjectId processId) {}

  /**
   * A read that only one shard executes.
   *
   * @param filter equality on the whole shard key, preferably on a value that no document has
   */
  public record ShardRead(String database, String collection, BsonDocument filter) {}

  /** A connection to the mongos could not be opened. */
  static final class UnreachableException extends IOException {
    private static final long serialVersionUID = 1L;

    UnreachableException(Throwable cause) {
      super(cause.getMessage(), cause);
    }
  }

  /**
   * @param group event loops of the connections; the caller shuts them down
   * @param wire the settings of the application's connections
   */
  public RouterProbe(EventLoopGroup group, WireSettings wire) {
    this.pool =
        new WirePool(
            group,
            new WireSettings(
                wire.sockets(),
                new WireSettings.PoolLimits(0, 0, 0, TIMEOUT, IDLE, Duration.ZERO),
                wire.tls(),
                wire.handshake(),
                wire.compressors(),
                wire.addresses(),
                null));
  }

  /**
   * Reads the ids of the cluster and of the process of the mongos at an address. Fails after ten
   * seconds without a reply, and at once if the mongos cannot be reached.
   */
  public Mono<Identity> identify(ServerAddressName router) {
    return run(router, "admin", new BsonDocument("isMaster", new BsonInt32(1)))
        .flatMap(
            hello ->
                run(router, "config", version())
                    .map(reply -> new Identity(clusterId(reply), process(hello))))
        .onErrorMap(NotSentException.class, UnreachableException::new)
        .timeout(LONGEST, NoAnswer.within(LONGEST));
  }

  private static BsonDocument version() {
    return find("version")
        .append("readConcern", new BsonDocument("level", new BsonString("local")))
        .append("$readPreference", new BsonDocument("mode", new BsonString("primaryPreferred")));
  }

  /**
   * Measures the distances of shards over a mongos. Each distance is the shortest of seven round
   * trips.
   *
   * @param reads per shard id, a read that only this shard executes
   * @return the distances by shard id, without the shards whose read failed
   */
  public Mono<Map<String, Distance>> measure(
      ServerAddressName router, Map<String, ShardRead> reads) {
    return shortest(() -> run(router, "admin", new BsonDocument("ping", new BsonInt32(1))))
        .flatMap(
            toRouter ->
                Flux.fromIterable(reads.entrySet())
                    .concatMap(
                        read ->
                            shortest(() -> read(router, read.getValue()))
                                .map(
                                    whole -> Map.entry(read.getKey(), Distance.of(toRouter, whole)))
                                .onErrorComplete())
                    .collectMap(Map.Entry::getKey, Map.Entry::getValue))
        .timeout(LONGEST, NoAnswer.within(LONGEST));
  }

  private Mono<BsonDocument> read(ServerAddressName router, ShardRead read) {
    return run(
        router,
        read.database(),
        find(read.collection())
            .append("filter", read.filter())
            .append("projection", new BsonDocument("_id", new BsonInt32(1))));
  }

  private Mono<BsonDocument> run(ServerAddressName router, String database, BsonDocument command) {
    command.append("$db", new BsonString(database));
    return pool.send(router, OpMsg.command(command))
        .map(OpMsg::body)
        .flatMap(
            reply ->
                ErrorCodes.ok(reply)
                    ? Mono.just(reply)
                    : Mono.error(CommandFailure.of(reply, router)));
  }

  private static BsonDocument find(String collection) {
    return new BsonDocument("find", new BsonString(collection))
        .append("limit", new BsonInt32(1))
        .append("singleBatch", BsonBoolean.TRUE)
        .append("maxTimeMS", new BsonInt64(TIMEOUT.toMillis()));
  }

  /**
   * The shortest of several round trips. One more round trip before them does not count: it may
   * open a connection or run code that is not compiled yet.
   */
  private static Mono<Duration> shortest(Supplier<Mono<BsonDocument>> question) {
    return Mono.defer(question)
        .then(
            Mono.defer(
                    () -> {
                      long start = System.nanoTime();
                      return question
                          .get()
                          .map(reply -> Duration.ofNanos(System.nanoTime() - start));
                    })
                .repeat(ROUNDS - 1L)
                .reduce((a, b) -> a.compareTo(b) < 0 ? a : b));
  }

  /** Closes the connections; open queries fail. */
  @Override
  public void close() {
    pool.close();
  }

  private static @Nullable ObjectId clusterId(BsonDocument reply) {
    BsonArray found = reply.getDocument("cursor").getArray("firstBatch");
    return !found.isEmpty()
            && found.get(0) instanceof BsonDocument version
            && version.isObjectId("clusterId")
        ? version.getObjectId("clusterId").getValue()
        : null;
  }

  private static @Nullable ObjectId process(BsonDocument hello) {
    return hello.get("topologyVersion") instanceof BsonDocument version
        ? version.getObjectId("processId").getValue()
        : null;
  }

  /** The process id in a server's description; null before 4.4. */
  static @Nullable ObjectId process(ServerDescription server) {
    TopologyVersion version = server.getTopologyVersion();
    return version == null ? null : version.getProcessId();
  }
}
