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
 * Asks a single mongos: which cluster it belongs to, and how far shards are by way of it. Its
 * connections are its own, and closed when nothing more is asked.
 *
 * <p>Thread-safe.
 */
public final class RouterProbe implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Duration LONGEST = TIMEOUT.multipliedBy(2);

  /** So many that on a busy machine, too, one of them comes close to what the network takes. */
  private static final int ROUNDS = 7;

  private static final Duration IDLE = Duration.ofSeconds(1);

  private final WirePool pool;

  /**
   * What a mongos says of itself.
   *
   * @param clusterId of its cluster; null if it won't tell
   * @param processId of its process; null before 4.4
   */
  public record Identity(@Nullable ObjectId clusterId, @Nullable ObjectId processId) {}

  /**
   * A read that one shard alone answers.
   *
   * @param filter equality on the whole shard key, best on a key that no document has
   */
  public record ShardRead(String database, String collection, BsonDocument filter) {}

  /** A mongos that could not be reached; it was not waited for. */
  static final class UnreachableException extends IOException {
    private static final long serialVersionUID = 1L;

    UnreachableException(Throwable cause) {
      super(cause.getMessage(), cause);
    }
  }

  /**
   * @param group event loops of the connections; stays the caller's
   * @param wire how the application's connections are made
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
   * Which cluster and process is behind that name; an error if it does not answer, at once if it
   * can't be reached.
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
   * Measures the ways to shards over a mongos: the shortest of seven round trips each.
   *
   * @param reads by shard id
   * @return by shard id; shards whose read was refused are missing
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

  /** The first time opens the connection, or finds code that was never run. */
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

  /** Ends the questions that were not answered yet. */
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

  /** The process that a server's description is of; null before 4.4. */
  static @Nullable ObjectId process(ServerDescription server) {
    TopologyVersion version = server.getTopologyVersion();
    return version == null ? null : version.getProcessId();
  }
}
