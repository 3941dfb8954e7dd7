package dev.onehop.testbed;

import com.mongodb.MongoNamespace;
import com.mongodb.client.MongoCollection;
import dev.onehop.testbed.internal.cluster.Access;
import dev.onehop.testbed.internal.cluster.Admin;
import dev.onehop.testbed.internal.cluster.Cluster;
import dev.onehop.testbed.internal.cluster.ReplicaSet;
import dev.onehop.testbed.internal.cluster.Server;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;

/**
 * Point reads and updates through every router, to every shard. A stand-in router runs on a JVM,
 * which takes some hundred operations until it has compiled what an operation needs; before that
 * each costs 2 ms more, seen on this project's machine, where one to a neighbouring host takes 1
 * ms.
 */
final class RouterWarmup {
  /** The quick compiler takes up a method after 200 calls, a loop later. */
  private static final int OPERATIONS_PER_ROUTER = 2_000;

  /** The optimizing compiler some ten thousand later, and more than once. */
  private static final int OPERATIONS_BEFORE_A_LONG_RUN = 20_000;

  /** Matches a document and changes nothing, as nothing is inserted. */
  private static final BsonDocument NO_CHANGE =
      new BsonDocument("$setOnInsert", new BsonDocument("warmUp", BsonBoolean.TRUE));

  private final Cluster cluster;
  private final List<Server> routers;
  private final Access access;
  private final int operations;

  RouterWarmup(Cluster cluster, List<Server> routers, Access access, boolean longRun) {
    this.operations = longRun ? OPERATIONS_BEFORE_A_LONG_RUN : OPERATIONS_PER_ROUTER;
    this.cluster = cluster;
    this.access = access;
    this.routers = List.copyOf(routers);
  }

  /** Warms all of them up side by side, with a document of each shard that has one. */
  void run(MongoNamespace namespace) {
    List<BsonDocument> documents = new ArrayList<>();
    for (ReplicaSet shard : cluster.shards()) {
      BsonDocument document =
          shard
              .primary()
              .collection(namespace.getDatabaseName(), namespace.getCollectionName())
              .find()
              .first();
      if (document != null) {
        documents.add(document);
      }
    }
    if (documents.isEmpty() || routers.isEmpty()) {
      return;
    }
    ExecutorService executor = Executors.newFixedThreadPool(routers.size());
    try {
      List<CompletableFuture<Void>> done = new ArrayList<>();
      for (Server router : routers) {
        done.add(CompletableFuture.runAsync(() -> warmUp(router, namespace, documents), executor));
      }
      done.forEach(CompletableFuture::join);
    } catch (CompletionException e) {
      throw new TestbedException("a router can't be warmed up: " + e.getCause().getMessage(), e);
    } finally {
      executor.shutdownNow();
    }
  }

  private void warmUp(Server router, MongoNamespace namespace, List<BsonDocument> documents) {
    try (Admin admin = Admin.of(router, access)) {
      MongoCollection<BsonDocument> documentsThere =
          admin
              .client()
              .getDatabase(namespace.getDatabaseName())
              .getCollection(namespace.getCollectionName(), BsonDocument.class);
      for (int i = 0; i < operations; i++) {
        BsonDocument filter = idOf(documents.get(i / 2 % documents.size()));
        if (i % 2 == 0) {
          var unused = documentsThere.find(filter).first();
        } else {
          var unused = documentsThere.updateOne(filter, NO_CHANGE);
        }
      }
    }
  }

  private static BsonDocument idOf(BsonDocument document) {
    return new BsonDocument("_id", document.get("_id"));
  }
}
