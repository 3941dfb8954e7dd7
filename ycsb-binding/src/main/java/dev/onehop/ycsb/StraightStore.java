package dev.onehop.ycsb;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import com.mongodb.connection.ClusterConnectionMode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A store for each shard, chosen by the range of a record. It shows the speed of the official
 * driver without a mongos. It reads ranges once and does not detect migrations. The collections
 * have to be sharded by {@code _id}. The cluster must have no users and no TLS. Each shard must
 * have exactly one member.
 */
final class StraightStore implements DocumentStore {
  private final Map<String, DocumentStore> shards;
  private final Function<String, ShardRanges> reader;
  private final Map<String, ShardRanges> ranges = new ConcurrentHashMap<>();

  private StraightStore(Map<String, DocumentStore> shards, Function<String, ShardRanges> reader) {
    this.shards = shards;
    this.reader = reader;
  }

  /**
   * @param stores creates a store on one server
   */
  static StraightStore open(
      BindingOptions options, Function<MongoClientSettings, DocumentStore> stores) {
    Map<String, DocumentStore> shards = new HashMap<>();
    try (MongoClient cluster = MongoClients.create(options.clientSettings())) {
      WriteConcern writeConcern = writeConcern(options.clientSettings(), cluster);
      for (BsonDocument shard :
          cluster.getDatabase("config").getCollection("shards", BsonDocument.class).find()) {
        String host = shard.getString("host").getValue().replaceFirst(".*/", "");
        shards.put(
            shard.getString("_id").getValue(),
            stores.apply(
                MongoClientSettings.builder(options.clientSettings())
                    .writeConcern(writeConcern)
                    .applyToClusterSettings(
                        to ->
                            to.mode(ClusterConnectionMode.SINGLE)
                                .hosts(List.of(new ServerAddress(host))))
                    .build()));
      }
    }
    return new StraightStore(shards, collection -> ShardRanges.read(options, collection));
  }

  /**
   * The cluster's default write concern. Shards do not have this default, so a shard would
   * acknowledge a write without a write concern earlier than a mongos.
   */
  private static WriteConcern writeConcern(MongoClientSettings settings, MongoClient cluster) {
    if (!settings.getWriteConcern().isServerDefault()) {
      return settings.getWriteConcern();
    }
    BsonValue w =
        cluster
            .getDatabase("admin")
            .runCommand(
                new BsonDocument("getDefaultRWConcern", new BsonInt32(1)), BsonDocument.class)
            .getDocument("defaultWriteConcern", new BsonDocument())
            .get("w", new BsonString("majority"));
    return w.isString()
        ? new WriteConcern(w.asString().getValue())
        : new WriteConcern(w.asNumber().intValue());
  }

  private DocumentStore owner(String collection, BsonDocument filter) {
    String shard =
        ranges.computeIfAbsent(collection, reader).shard(filter.getString("_id").getValue());
    return Objects.requireNonNull(shards.get(shard), shard);
  }

  @Override
  public boolean isBlocking() {
    return shards.values().stream().anyMatch(DocumentStore::isBlocking);
  }

  @Override
  public Mono<Void> ping() {
    return Flux.fromIterable(shards.values()).concatMap(DocumentStore::ping).then();
  }

  @Override
  public Mono<BsonDocument> findOne(
      String collection, BsonDocument filter, @Nullable BsonDocument projection) {
    return owner(collection, filter).findOne(collection, filter, projection);
  }

  @Override
  public Mono<List<BsonDocument>> findOrdered(
      String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit) {
    throw ofOneShardOnly();
  }

  @Override
  public Mono<Void> insert(String collection, BsonDocument document) {
    return owner(collection, document).insert(collection, document);
  }

  @Override
  public Mono<Void> upsert(String collection, BsonDocument filter, BsonDocument document) {
    return owner(collection, filter).upsert(collection, filter, document);
  }

  @Override
  public Mono<UpdateResult> update(String collection, BsonDocument filter, BsonDocument update) {
    return owner(collection, filter).update(collection, filter, update);
  }

  @Override
  public Mono<DeleteResult> delete(String collection, BsonDocument filter) {
    return owner(collection, filter).delete(collection, filter);
  }

  @Override
  public Mono<Void> bulkWrite(String collection, List<? extends WriteModel<BsonDocument>> writes) {
    throw ofOneShardOnly();
  }

  private static UnsupportedOperationException ofOneShardOnly() {
    return new UnsupportedOperationException(
        "without a router, only operations on one shard are possible");
  }

  @Override
  public Map<String, Long> routes() {
    return Map.of();
  }

  @Override
  public void close() {
    shards.values().forEach(DocumentStore::close);
  }
}
