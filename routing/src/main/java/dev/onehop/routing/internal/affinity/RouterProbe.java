package dev.onehop.routing.internal.affinity;

import com.mongodb.MongoClientSettings;
import com.mongodb.ReadPreference;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.TopologyVersion;
import com.mongodb.event.ServerDescriptionChangedEvent;
import com.mongodb.event.ServerListener;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.watch.DriverClient;
import dev.onehop.wire.watch.SingleServer;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
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
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * Asks a single mongos: which cluster it belongs to, and how far shards are by way of it. Each
 * question has a client of its own that lives for that question only.
 *
 * <p>Thread-safe.
 */
public final class RouterProbe implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** So many that on a busy machine, too, one of them comes close to what the network takes. */
  private static final int ROUNDS = 7;

  private static final BsonDocument VERSION =
      find("version").append("readConcern", new BsonDocument("level", new BsonString("local")));

  private static final BsonDocument PING = new BsonDocument("ping", new BsonInt32(1));

  private final MongoClientSettings settings;
  private final Set<DriverClient> open = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

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

  /**
   * @param settings of the application
   */
  public RouterProbe(MongoClientSettings settings) {
    this.settings = settings;
  }

  /** A mongos that could not be reached; it was not waited for. */
  static final class UnreachableException extends IOException {
    private static final long serialVersionUID = 1L;

    UnreachableException(Throwable cause) {
      super(cause.getMessage(), cause);
    }
  }

  /**
   * Which cluster and process is behind that name; an error if it does not answer, at once if it
   * can't be reached.
   */
  public Mono<Identity> identify(ServerAddressName router) {
    return Mono.defer(
        () -> {
          Sinks.One<Identity> unreachable = Sinks.one();
          ServerListener watching =
              new ServerListener() {
                @Override
                public void serverDescriptionChanged(ServerDescriptionChangedEvent event) {
                  Throwable failure = event.getNewDescription().getException();
                  if (failure != null) {
                    var unused = unreachable.tryEmitError(new UnreachableException(failure));
                  }
                }
              };
          return Mono.firstWithSignal(unreachable.asMono(), identify(router, watching));
        });
  }

  private Mono<Identity> identify(ServerAddressName router, ServerListener watching) {
    return with(
        router,
        watching,
        client ->
            client
                .run("config", VERSION, ReadPreference.primaryPreferred())
                .map(reply -> new Identity(clusterId(reply), process(client))));
  }

  /**
   * Measures the ways to shards over a mongos: the shortest of seven round trips each.
   *
   * @param reads by shard id
   * @return by shard id; shards whose read was refused are missing
   */
  public Mono<Map<String, Distance>> measure(
      ServerAddressName router, Map<String, ShardRead> reads) {
    return with(
        router,
        new ServerListener() {},
        client ->
            shortest(client.run("admin", PING, ReadPreference.primary()))
                .flatMap(
                    toRouter ->
                        Flux.fromIterable(reads.entrySet())
                            .concatMap(
                                read ->
                                    shortest(read(client, read.getValue()))
                                        .map(
                                            whole ->
                                                Map.entry(
                                                    read.getKey(), Distance.of(toRouter, whole)))
                                        .onErrorComplete())
                            .collect(
                                HashMap<String, Distance>::new,
                                (found, each) -> found.put(each.getKey(), each.getValue()))));
  }

  private static Mono<BsonDocument> read(DriverClient client, ShardRead read) {
    return client.run(
        read.database(),
        find(read.collection())
            .append("filter", read.filter())
            .append("projection", new BsonDocument("_id", new BsonInt32(1))),
        ReadPreference.primary());
  }

  private static BsonDocument find(String collection) {
    return new BsonDocument("find", new BsonString(collection))
        .append("limit", new BsonInt32(1))
        .append("singleBatch", BsonBoolean.TRUE)
        .append("maxTimeMS", new BsonInt64(TIMEOUT.toMillis()));
  }

  /** The first time opens the connection, or finds code that was never run. */
  private static Mono<Duration> shortest(Mono<?> question) {
    return question.then(
        Mono.defer(
                () -> {
                  long start = System.nanoTime();
                  return question.then(
                      Mono.fromSupplier(() -> Duration.ofNanos(System.nanoTime() - start)));
                })
            .repeat(ROUNDS - 1L)
            .reduce((a, b) -> a.compareTo(b) < 0 ? a : b));
  }

  /** Not on the event loops, which carry the answers: a client waits for them when it closes. */
  private <T> Mono<T> with(
      ServerAddressName router, ServerListener listener, Function<DriverClient, Mono<T>> question) {
    return Mono.usingWhen(
            Mono.fromCallable(() -> connect(router, listener))
                .subscribeOn(Schedulers.boundedElastic()),
            question,
            // The answer does not wait for it: a mongos may take its time to end a session.
            client ->
                Mono.fromRunnable(() -> Schedulers.boundedElastic().schedule(() -> close(client))))
        .timeout(TIMEOUT.multipliedBy(2));
  }

  private DriverClient connect(ServerAddressName router, ServerListener listener) {
    DriverClient client = SingleServer.connect(settings, router, listener, TIMEOUT.toMillis());
    open.add(client);
    if (closed) {
      close(client);
    }
    return client;
  }

  private void close(DriverClient client) {
    open.remove(client);
    client.close();
  }

  /** Ends the questions that were not answered yet. */
  @Override
  public void close() {
    closed = true;
    Set.copyOf(open).forEach(this::close);
  }

  private static @Nullable ObjectId clusterId(BsonDocument reply) {
    BsonArray found = reply.getDocument("cursor").getArray("firstBatch");
    return !found.isEmpty()
            && found.get(0) instanceof BsonDocument version
            && version.isObjectId("clusterId")
        ? version.getObjectId("clusterId").getValue()
        : null;
  }

  private static @Nullable ObjectId process(DriverClient client) {
    List<ServerDescription> servers = client.description().getServerDescriptions();
    return servers.isEmpty() ? null : process(servers.get(0));
  }

  /** The process that a server's description is of; null before 4.4. */
  static @Nullable ObjectId process(ServerDescription server) {
    TopologyVersion version = server.getTopologyVersion();
    return version == null ? null : version.getProcessId();
  }
}
