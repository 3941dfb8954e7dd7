package dev.onehop.routing.internal.catalog;

import dev.onehop.core.table.ChunkVersion;
import dev.onehop.core.table.InconsistentRoutingTableException;
import dev.onehop.core.table.RoutingTable;
import java.util.List;
import java.util.Objects;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Builds a collection's routing table from {@code config.collections}, {@code config.chunks} and
 * {@code config.databases}, as mongos does: only the chunks newer than the known version where a
 * table of the same incarnation is known, all of them otherwise.
 *
 * <p>The collection's entry and its chunks come from separate reads. What a change between the two
 * could spoil (a gap, an overlap, another incarnation) the table itself refuses; the load then
 * starts afresh, {@value #ATTEMPTS} times at the most.
 */
final class RoutingTableLoader {
  private static final int ATTEMPTS = 3;
  private static final BsonDocument UNORDERED = new BsonDocument();
  private static final BsonDocument BY_VERSION = new BsonDocument("lastmod", new BsonInt32(1));

  private final ConfigReader config;
  private final boolean refusesTimeSeries;

  /**
   * @param refusesTimeSeries whether a sharded time series collection is an error, for its own name
   *     is not that of what is sharded
   */
  RoutingTableLoader(ConfigReader config, boolean refusesTimeSeries) {
    this.config = config;
    this.refusesTimeSeries = refusesTimeSeries;
  }

  /**
   * Loads the newest table.
   *
   * @param namespace database and collection
   * @param known the table at hand, null if there is none
   * @return the table; a {@link UnknownNamespaceException} if the database does not exist, an
   *     {@link InconsistentRoutingTableException} if the metadata stays inconsistent
   */
  Mono<RoutingTable> load(String namespace, @Nullable RoutingTable known) {
    return attempt(namespace, known)
        .onErrorResume(InconsistentRoutingTableException.class, e -> attempt(namespace, null))
        .retryWhen(
            Retry.max(ATTEMPTS - 1L)
                .filter(InconsistentRoutingTableException.class::isInstance)
                .onRetryExhaustedThrow((spec, signal) -> signal.failure()));
  }

  private Mono<RoutingTable> attempt(String namespace, @Nullable RoutingTable known) {
    return config
        .find("collections", new BsonDocument("_id", new BsonString(namespace)), UNORDERED)
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
    return refusesTimeSeries
        ? refuseTimeSeries(namespace).then(Mono.defer(() -> onPrimary(namespace)))
        : onPrimary(namespace);
  }

  private Mono<Void> refuseTimeSeries(String namespace) {
    String buckets = namespace.replaceFirst("\\.", ".system.buckets.");
    return config
        .find("collections", new BsonDocument("_id", new BsonString(buckets)), UNORDERED)
        .flatMap(
            found ->
                found.isEmpty()
                    ? Mono.empty()
                    : Mono.error(new ShardedTimeSeriesException(namespace)));
  }

  private Mono<RoutingTable> onPrimary(String namespace) {
    String database = namespace.substring(0, namespace.indexOf('.'));
    return config
        .find("databases", new BsonDocument("_id", new BsonString(database)), UNORDERED)
        .flatMap(
            found ->
                found.isEmpty()
                    ? Mono.error(new UnknownNamespaceException(database))
                    : Mono.fromCallable(() -> RoutingTable.unsharded(namespace, found.get(0))));
  }

  private Mono<RoutingTable> sharded(BsonDocument collection, @Nullable RoutingTable known) {
    boolean incremental =
        known != null && known.isSharded() && sameIncarnation(collection, known.version());
    BsonDocument filter =
        collection.containsKey("uuid") && collection.containsKey("timestamp")
            ? new BsonDocument("uuid", collection.get("uuid"))
            : new BsonDocument("ns", collection.get("_id"));
    if (incremental) {
      filter.append("lastmod", new BsonDocument("$gte", known.version().toTimestamp()));
    }
    return config
        .find("chunks", filter, BY_VERSION)
        .map(chunks -> table(collection, chunks, incremental ? known : null));
  }

  private static RoutingTable table(
      BsonDocument collection, List<BsonDocument> chunks, @Nullable RoutingTable base) {
    return base == null ? RoutingTable.of(collection, chunks) : base.merge(collection, chunks);
  }

  private static boolean sameIncarnation(BsonDocument collection, ChunkVersion known) {
    BsonValue timestamp = collection.get("timestamp");
    if (timestamp != null && known.timestamp() != null) {
      return timestamp.equals(known.timestamp());
    }
    return Objects.equals(collection.getObjectId("lastmodEpoch").getValue(), known.epoch());
  }
}
