package dev.onehop.testbed;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoNamespace;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Projections;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.internal.cluster.Admin;
import dev.onehop.testbed.internal.cluster.Cluster;
import dev.onehop.testbed.internal.cluster.Credentials;
import dev.onehop.testbed.internal.cluster.ReplicaSet;
import dev.onehop.testbed.internal.cluster.Server;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;

/**
 * Sends point reads and updates through every router to every shard. A stand-in router runs on a
 * JVM, which compiles its code after some hundred operations. An operation before the compilation
 * takes 2 ms more. For comparison, an operation on a host in the same region takes 1 ms (both
 * measured on this project's machine).
 *
 * <p>The optimizing compiler compiles for the calls that it has seen, such as a single key or one
 * request in a packet. At the first different call it discards the result and compiles again, which
 * takes seconds. The warm-up therefore uses many keys. It runs twice: over many connections, and
 * over a few connections with many requests in flight.
 */
final class RouterWarmup {
  /**
   * The number of operations for the quick compiler. It compiles a method after 200 calls. For a
   * loop, it needs more calls.
   */
  private static final int OPERATIONS_PER_ROUTER = 2_000;

  /**
   * The number of operations for the optimizing compiler. It compiles a method after some ten
   * thousand more calls, and often more than once.
   */
  private static final int OPERATIONS_BEFORE_A_LONG_RUN = 40_000;

  private static final int KEYS_PER_SHARD = 500;
  private static final int IN_FLIGHT = 16;
  private static final int PIPELINED_SOCKETS = 2;

  /** An update that changes no document, because {@code $setOnInsert} applies only to an upsert. */
  private static final BsonDocument NO_CHANGE =
      new BsonDocument("$setOnInsert", new BsonDocument("warmUp", BsonBoolean.TRUE));

  private final Cluster cluster;
  private final List<Server> routers;
  private final Credentials access;
  private final int operations;

  RouterWarmup(Cluster cluster, List<Server> routers, Credentials access, boolean longRun) {
    this.operations = longRun ? OPERATIONS_BEFORE_A_LONG_RUN : OPERATIONS_PER_ROUTER;
    this.cluster = cluster;
    this.access = access;
    this.routers = List.copyOf(routers);
  }

  /** Warms up all routers in parallel, with some documents of each shard. */
  void run(MongoNamespace namespace) {
    List<BsonDocument> keys = keys(namespace);
    if (keys.isEmpty()) {
      return;
    }
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      all(routers, threads, router -> warmUp(router, namespace, keys, threads));
    } catch (CompletionException e) {
      throw new TestbedException("a router cannot be warmed up: " + e.getMessage(), e);
    } finally {
      threads.shutdownNow();
    }
  }

  private static <T> void all(List<T> items, ExecutorService threads, Consumer<T> task) {
    CompletableFuture.allOf(
            items.stream()
                .map(item -> CompletableFuture.runAsync(() -> task.accept(item), threads))
                .toArray(CompletableFuture[]::new))
        .join();
  }

  private List<BsonDocument> keys(MongoNamespace namespace) {
    List<BsonDocument> keys = new ArrayList<>();
    for (ReplicaSet shard : cluster.shards()) {
      shard
          .primary()
          .collection(namespace.getDatabaseName(), namespace.getCollectionName())
          .find()
          .projection(Projections.include("_id"))
          .limit(KEYS_PER_SHARD)
          .into(keys);
    }
    return keys;
  }

  private void warmUp(
      Server router, MongoNamespace namespace, List<BsonDocument> keys, ExecutorService threads) {
    try (MongoClient client = MongoClients.create(settings(router))) {
      run(client, namespace, keys, threads);
    }
    try (MongoClient client = pipelined(router)) {
      run(client, namespace, keys, threads);
    }
  }

  private MongoClientSettings settings(Server router) {
    MongoClientSettings.Builder settings = MongoClientSettings.builder();
    applyTo(settings, router);
    return settings.build();
  }

  private MongoClient pipelined(Server router) {
    InetSocketAddress address = router.listenAddress();
    return OneHop.builder("mongodb://" + address.getHostString() + ":" + address.getPort())
        .applyToClientSettings(settings -> applyTo(settings, router))
        .routing(RoutingMode.NONE)
        .pipelining(sockets -> sockets.socketsPerServer(PIPELINED_SOCKETS))
        .client(MongoClient.class);
  }

  private void applyTo(MongoClientSettings.Builder settings, Server router) {
    Admin.applyTo(settings, router, access);
    // Writes are retryable, as in applications: a write with a transaction number runs other code
    // of a router.
    settings
        .readPreference(ReadPreference.primary())
        .applyToConnectionPoolSettings(pool -> pool.maxSize(IN_FLIGHT))
        .retryReads(true)
        .retryWrites(true);
  }

  private void run(
      MongoClient client,
      MongoNamespace namespace,
      List<BsonDocument> keys,
      ExecutorService threads) {
    MongoCollection<BsonDocument> documents =
        client
            .getDatabase(namespace.getDatabaseName())
            .getCollection(namespace.getCollectionName(), BsonDocument.class);
    all(
        Collections.nCopies(IN_FLIGHT, operations / 4 / IN_FLIGHT),
        threads,
        pairs -> {
          for (int i = 0; i < pairs; i++) {
            BsonDocument key = keys.get(ThreadLocalRandom.current().nextInt(keys.size()));
            documents.find(key).first();
            documents.updateOne(key, NO_CHANGE);
          }
        });
  }
}
