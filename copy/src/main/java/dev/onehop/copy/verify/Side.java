package dev.onehop.copy.verify;

import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ClusterIdentity;
import dev.onehop.copy.internal.cluster.EndCheck;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.routing.RoutingMode;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One of the two clusters of a verification. Documents are read directly from the shards if
 * possible, otherwise through mongoses. Reads go to primaries with majority read concern, and never
 * return orphaned documents.
 *
 * <p>Thread-safe.
 */
final class Side implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final ClusterEnd cluster;
  private final String identity;
  private final int shards;

  // Has the latest times of all reads. No command is sent in this session.
  private final ClientSession latest; // guarded by itself

  private Side(ClusterEnd cluster) throws InterruptedException {
    this.cluster = cluster;
    this.identity = ClusterIdentity.inWords(cluster);
    this.shards =
        cluster.isSharded()
            ? Math.max(1, cluster.metadata("shards", new BsonDocument()).size())
            : 1;
    this.latest = Waits.one(cluster.client().startSession());
  }

  /**
   * Connects to a cluster.
   *
   * @param role {@code source} or {@code destination}, for messages
   * @param url the URL of mongoses or of a replica set
   * @param change changes the client's settings
   * @param throughMongos whether documents are read only through the mongoses
   * @throws IllegalArgumentException if the URL names config servers or a shard, or the cluster is
   *     too old
   */
  static Side connect(
      String role, String url, Consumer<MongoClientSettings.Builder> change, boolean throughMongos)
      throws InterruptedException {
    try {
      ClusterEnd cluster =
          ClusterEnd.connect(
              role, url, change, throughMongos ? RoutingMode.NONE : RoutingMode.DIRECT, 1);
      try {
        cluster.setPatience(PATIENCE);
        EndCheck.check(cluster);
        return new Side(cluster);
      } catch (RuntimeException | InterruptedException e) {
        cluster.close();
        throw e;
      }
    } catch (CopyException e) {
      throw e.getCause() instanceof RuntimeException unreachable
          ? unreachable
          : new IllegalArgumentException(e.getMessage(), e);
    }
  }

  ClusterEnd cluster() {
    return cluster;
  }

  /** The name of the cluster in state files. */
  String identity() {
    return identity;
  }

  /**
   * Checks that the other side is a different cluster.
   *
   * @throws IllegalArgumentException if both sides are the same cluster
   */
  void refuseSameCluster(Side other) {
    if (identity.equals(other.identity)) {
      throw new IllegalArgumentException(
          "source and destination are the same cluster, "
              + identity
              + ": to compare different collections of one cluster, give each of them another name");
    }
  }

  /** The most servers that reply to a read at the same time. */
  int shards() {
    return shards;
  }

  /** A collection whose documents are returned as raw bytes. */
  MongoCollection<RawBsonDocument> documents(String namespace) {
    return cluster.collection(namespace).withDocumentClass(RawBsonDocument.class);
  }

  /**
   * Reads documents in a session of their own.
   *
   * @param after whether the read is causally after all reads that have ended
   */
  <T> Flux<T> read(boolean after, Function<ClientSession, Publisher<T>> documents) {
    return Flux.usingWhen(
        cluster.client().startSession(),
        session -> {
          if (after) {
            advance(session, latest);
          }
          return documents.apply(session);
        },
        session ->
            Mono.fromRunnable(
                () -> {
                  advance(latest, session);
                  session.close();
                }));
  }

  private void advance(ClientSession session, ClientSession to) {
    synchronized (latest) {
      session.advanceOperationTime(to.getOperationTime());
      session.advanceClusterTime(to.getClusterTime());
    }
  }

  @Override
  public void close() {
    latest.close();
    cluster.close();
  }
}
