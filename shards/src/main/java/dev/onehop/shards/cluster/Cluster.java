package dev.onehop.shards.cluster;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.catalog.RoutingCatalog.RefreshListener;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.connection.WirePool;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.watch.ServerSet;
import java.time.Duration;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A sharded cluster or a replica set whose servers are addressed without a router: connections,
 * monitors and metadata. All servers gossip one cluster time.
 *
 * <p>Thread-safe.
 */
public class Cluster implements AutoCloseable {
  private static final BsonString IS_VIEW = new BsonString("view");

  private final Connections connections;
  private final ClusterClock clock = new ClusterClock();
  private final ReplicaSet seeds;
  private final ConfigServer config;
  private final ShardDirectory directory;
  private final RoutingCatalog catalog;

  /**
   * @param seeds the config servers, mongoses or members of a replica set; closed with this object
   * @param watcher watches the shards' servers
   * @param connections the connections to all servers; closed with this object
   * @param refreshes called for every refresh of a routing table
   * @param viewsAreRefused whether views have no routing table; to check this, one read at the
   *     primary shard is needed per collection
   */
  protected Cluster(
      ServerSet seeds,
      ServerSet.Factory watcher,
      Connections connections,
      RefreshListener refreshes,
      boolean viewsAreRefused) {
    this.connections = connections;
    WirePool pool = connections.onEventLoops();
    this.seeds = new ReplicaSet(seeds, pool, clock);
    this.config = new ConfigServer(this.seeds, clock);
    this.directory = new ShardDirectory(config, watcher, pool, clock);
    this.catalog =
        RoutingCatalog.forShards(
            config, viewsAreRefused ? this::isView : null, listener(refreshes));
  }

  /**
   * Queries the primary shard of the database, because it has the definitions of the database's
   * views.
   */
  private Mono<Boolean> isView(String namespace, String primaryShard) {
    int dot = namespace.indexOf('.');
    OpMsg list =
        OpMsg.command(
            new BsonDocument("listCollections", new BsonInt32(1))
                .append(
                    "filter",
                    new BsonDocument("name", new BsonString(namespace.substring(dot + 1))))
                .append("nameOnly", BsonBoolean.TRUE)
                // With this option, the command requires only rights on the collection itself.
                .append("authorizedCollections", BsonBoolean.TRUE)
                .append("$db", new BsonString(namespace.substring(0, dot))));
    return directory
        .shard(primaryShard)
        .flatMap(shard -> shard.send(list))
        .flatMap(ReplicaSet.Answer::orFailure)
        .map(
            answer ->
                answer.document().getDocument("cursor").getArray("firstBatch").stream()
                    .anyMatch(each -> IS_VIEW.equals(each.asDocument().get("type"))))
        // If the user may not list the collection, it is treated as a view. A mongos then executes
        // the command, and returns the error for missing rights.
        .onErrorResume(
            CommandFailure.class,
            refused ->
                refused.code() == ErrorCodes.UNAUTHORIZED ? Mono.just(true) : Mono.error(refused));
  }

  private RefreshListener listener(RefreshListener other) {
    return new RefreshListener() {
      @Override
      public void refreshed(
          String namespace,
          @Nullable RoutingTable table,
          Duration took,
          @Nullable Throwable failure) {
        other.refreshed(namespace, table, took, failure);
      }

      @Override
      public void forgotten(String namespace) {
        Cluster.this.forgotten(namespace);
        other.forgotten(namespace);
      }
    };
  }

  /** Called when a table is dropped, because the collection was dropped or is not used any more. */
  protected void forgotten(String namespace) {}

  public final Connections connections() {
    return connections;
  }

  /** The latest cluster time of all servers. */
  public final ClusterClock clock() {
    return clock;
  }

  /**
   * The servers that the settings name. All other servers are discovered by queries to these
   * servers.
   */
  public final ReplicaSet seeds() {
    return seeds;
  }

  /** Reads the metadata over the seeds. */
  public final ConfigServer config() {
    return config;
  }

  /** The shards. */
  public final ShardDirectory directory() {
    return directory;
  }

  /** The routing tables. */
  public final RoutingCatalog catalog() {
    return catalog;
  }

  @Override
  public void close() {
    directory.close();
    seeds.servers().close();
    connections.close();
  }
}
