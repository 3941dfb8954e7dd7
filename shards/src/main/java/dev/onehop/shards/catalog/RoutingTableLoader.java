package dev.onehop.shards.catalog;

import dev.onehop.core.table.ChunkVersion;
import dev.onehop.core.table.InconsistentRoutingTableException;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.RoutingTableBuilder;
import dev.onehop.core.table.ShardId;
import dev.onehop.core.table.ShardKeyException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Builds a collection's routing table from {@code config.collections}, {@code config.chunks} and
 * {@code config.databases}, as mongos does. If a table is loaded and the collection was not created
 * again since then, only chunks with newer versions are read. Otherwise all chunks are read.
 *
 * <p>Chunks are read in the order of their versions. A chunk that changes during the read is
 * therefore read again at the end, and an interrupted read can continue where it ended.
 *
 * <p>The collection's entry and its chunks come from separate reads. The table refuses any
 * inconsistency that a change between the reads causes: a gap, an overlap, another incarnation,
 * another shard key. The load then starts again, with {@value #ATTEMPTS} attempts at most.
 */
final class RoutingTableLoader {
  private static final int ATTEMPTS = 3;
  private static final BsonDocument BY_VERSION = new BsonDocument("lastmod", new BsonInt32(1));
  private static final BsonDocument CHUNK_FIELDS =
      BsonDocument.parse(
          "{_id: 0, min: 1, max: 1, shard: 1, lastmod: 1, uuid: 1, ns: 1, lastmodEpoch: 1}");

  private final ConfigReader config;
  private final boolean refusesTimeSeries;
  private final @Nullable Views views;
  private volatile Map<ShardId, String> shardNames = Map.of();

  /**
   * @param refusesTimeSeries whether a sharded time series collection is an error. The metadata
   *     contain such a collection only under the name of its buckets
   * @param views finds views, because a view is an error, too; null if views are not checked
   */
  RoutingTableLoader(ConfigReader config, boolean refusesTimeSeries, @Nullable Views views) {
    this.config = config;
    this.refusesTimeSeries = refusesTimeSeries;
    this.views = views;
  }

  /**
   * Loads the newest table.
   *
   * @param namespace database and collection
   * @param known the loaded table, null if there is none
   * @return the table; a {@link UnknownNamespaceException} if the database does not exist, an
   *     {@link InconsistentRoutingTableException} if the metadata stays inconsistent
   */
  Mono<RoutingTable> load(String namespace, @Nullable RoutingTable known) {
    return attempt(namespace, known)
        .onErrorResume(
            RoutingTableLoader::isInconsistent,
            e -> readShardNames().then(Mono.defer(() -> attempt(namespace, null))))
        .retryWhen(
            Retry.max(ATTEMPTS - 1L)
                .filter(RoutingTableLoader::isInconsistent)
                .onRetryExhaustedThrow((spec, signal) -> signal.failure()));
  }

  /**
   * Reads the names of the shards again, because a chunk may refer to a shard by a UUID that is not
   * known yet.
   */
  private Mono<Void> readShardNames() {
    return config
        .find("shards", new BsonDocument())
        .doOnNext(shards -> shardNames = ShardId.names(shards))
        .then();
  }

  /** The names of the shards, as they were last read. */
  Map<ShardId, String> shardNames() {
    return shardNames;
  }

  /**
   * Whether a failure may come from a change of the metadata between two reads. For example, a
   * chunk does not fit the shard key if the key was refined between the reads.
   */
  private static boolean isInconsistent(Throwable failure) {
    return failure instanceof InconsistentRoutingTableException
        || failure instanceof ShardKeyException;
  }

  private Mono<RoutingTable> attempt(String namespace, @Nullable RoutingTable known) {
    return config
        .find("collections", namespace)
        .flatMap(
            found -> {
              if (found.isEmpty()
                  || found.get(0).getBoolean("dropped", BsonBoolean.FALSE).getValue()) {
                return unsharded(namespace);
              }
              return sharded(found.get(0), known);
            });
  }

  private Mono<RoutingTable> unsharded(String namespace) {
    Mono<RoutingTable> table =
        refusesTimeSeries
            ? refuseTimeSeries(namespace).then(Mono.defer(() -> onPrimary(namespace)))
            : onPrimary(namespace);
    return views == null ? table : table.flatMap(found -> refuseView(views, found));
  }

  private static Mono<RoutingTable> refuseView(Views views, RoutingTable table) {
    return views
        .isView(table.namespace(), table.primaryShard())
        .flatMap(
            view -> view ? Mono.error(new ViewException(table.namespace())) : Mono.just(table));
  }

  private Mono<Void> refuseTimeSeries(String namespace) {
    String buckets = namespace.replaceFirst("\\.", ".system.buckets.");
    return config
        .find("collections", buckets)
        .flatMap(
            found ->
                found.isEmpty()
                    ? Mono.empty()
                    : Mono.error(new ShardedTimeSeriesException(namespace)));
  }

  private Mono<RoutingTable> onPrimary(String namespace) {
    String database = namespace.substring(0, namespace.indexOf('.'));
    return config
        .find("databases", database)
        .flatMap(
            found ->
                found.isEmpty()
                    ? Mono.error(new UnknownNamespaceException(database))
                    : Mono.fromCallable(
                        () -> RoutingTable.unsharded(namespace, found.get(0), shardNames)));
  }

  private Mono<RoutingTable> sharded(BsonDocument collection, @Nullable RoutingTable known) {
    RoutingTable base =
        known != null && known.isSharded() && sameIncarnation(collection, known.version())
            ? known
            : null;
    boolean byUuid = collection.containsKey("uuid") && collection.containsKey("timestamp");
    BsonDocument itsChunks =
        chunksOf(byUuid ? collection.get("uuid") : null, collection.getString("_id"));
    if (base != null) {
      itsChunks.append("lastmod", new BsonDocument("$gte", base.version().toTimestamp()));
    }
    return Mono.defer(
        () -> {
          RoutingTableBuilder table =
              base != null
                  ? new RoutingTableBuilder(base, collection, shardNames)
                  : new RoutingTableBuilder(collection, shardNames);
          return read(itsChunks, table).then(Mono.fromCallable(() -> survived(table::build)));
        });
  }

  /** The filter for the chunks of a sharded collection. */
  static BsonDocument chunksOf(RoutingTable table) {
    boolean byUuid = table.version().timestamp() != null;
    return chunksOf(byUuid ? table.uuid() : null, new BsonString(table.namespace()));
  }

  /** The filter for the chunks of a collection: by UUID since MongoDB 5.0, by namespace before. */
  private static BsonDocument chunksOf(@Nullable BsonValue uuid, BsonString namespace) {
    return uuid != null ? new BsonDocument("uuid", uuid) : new BsonDocument("ns", namespace);
  }

  /**
   * Reads chunks into a table. If an earlier attempt failed after some chunks, the read continues
   * after the last chunk in the table.
   */
  private Mono<Void> read(BsonDocument filter, RoutingTableBuilder table) {
    return Mono.defer(
        () -> {
          BsonTimestamp before = table.newest();
          BsonDocument rest = filter.clone();
          if (before != null) {
            rest.put("lastmod", new BsonDocument("$gt", before));
          }
          return config
              .batches(
                  ConfigReader.query("chunks", rest)
                      .append("sort", BY_VERSION)
                      .append("projection", CHUNK_FIELDS))
              .map(batch -> survived(() -> add(batch, table)))
              .then()
              .onErrorResume(
                  failure ->
                      isInconsistent(failure)
                              || failure instanceof OutOfResourcesException
                              || Objects.equals(before, table.newest())
                          ? Mono.error(failure)
                          : read(filter, table));
        });
  }

  private static int add(List<BsonDocument> batch, RoutingTableBuilder table) {
    batch.forEach(table::add);
    return batch.size();
  }

  /**
   * Converts a {@link VirtualMachineError} to an exception. Reactor does not emit such an error, so
   * the load would never end.
   */
  private static <T> T survived(Supplier<T> step) {
    try {
      return step.get();
    } catch (VirtualMachineError e) {
      throw new OutOfResourcesException(e);
    }
  }

  static boolean sameIncarnation(BsonDocument collection, ChunkVersion known) {
    BsonValue timestamp = collection.get("timestamp");
    if (timestamp != null && known.timestamp() != null) {
      return timestamp.equals(known.timestamp());
    }
    return Objects.equals(collection.getObjectId("lastmodEpoch").getValue(), known.epoch());
  }
}
