package dev.onehop.cli.cluster;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import dev.onehop.core.table.RoutingTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/** A cluster's {@code config} database, read through a router or from the config servers. */
public final class ClusterMetadata {

  private final MongoDatabase config;

  /** Metadata as a majority of the config servers has it. */
  public ClusterMetadata(MongoClient client) {
    this.config =
        client
            .getDatabase("config")
            .withReadConcern(ReadConcern.MAJORITY)
            .withReadPreference(ReadPreference.primary());
  }

  /**
   * The routing table of a collection; empty if the cluster does not know its database.
   *
   * @throws dev.onehop.core.table.InconsistentRoutingTableException if chunks changed while they
   *     were read
   */
  public Optional<RoutingTable> routingTable(String namespace) {
    BsonDocument collection = first("collections", namespace);
    if (collection != null && !collection.getBoolean("dropped", BsonBoolean.FALSE).getValue()) {
      // From 5.0 on chunks name their collection by its UUID.
      BsonDocument filter =
          collection.containsKey("uuid") && collection.containsKey("timestamp")
              ? new BsonDocument("uuid", collection.get("uuid"))
              : new BsonDocument("ns", new BsonString(namespace));
      return Optional.of(RoutingTable.of(collection, find("chunks", filter)));
    }
    String database = namespace.substring(0, namespace.indexOf('.'));
    return Optional.ofNullable(first("databases", database))
        .map(document -> RoutingTable.unsharded(namespace, document));
  }

  /** The hosts of each shard's members, {@code host:port}. */
  public Map<String, List<String>> shardMembers() {
    Map<String, List<String>> members = new TreeMap<>();
    for (BsonDocument shard : find("shards", new BsonDocument())) {
      String host = shard.getString("host").getValue();
      members.put(
          shard.getString("_id").getValue(),
          List.of(host.substring(host.indexOf('/') + 1).split(",", -1)));
    }
    return members;
  }

  /** The routers that said they are there, {@code host:port}. */
  public List<String> routers() {
    return find("mongos", new BsonDocument()).stream()
        .map(router -> router.getString("_id").getValue())
        .sorted()
        .toList();
  }

  /** The routers on a host of a shard. */
  public static List<String> beside(List<String> members, List<String> routers) {
    List<String> hosts = members.stream().map(ClusterMetadata::host).toList();
    return routers.stream().filter(router -> hosts.contains(host(router))).toList();
  }

  private static String host(String hostAndPort) {
    int colon = hostAndPort.lastIndexOf(':');
    return colon < 0 ? hostAndPort : hostAndPort.substring(0, colon);
  }

  private @Nullable BsonDocument first(String collection, String id) {
    return config
        .getCollection(collection, BsonDocument.class)
        .find(new BsonDocument("_id", new BsonString(id)))
        .first();
  }

  private List<BsonDocument> find(String collection, BsonDocument filter) {
    return config
        .getCollection(collection, BsonDocument.class)
        .find(filter)
        .into(new ArrayList<>());
  }
}
