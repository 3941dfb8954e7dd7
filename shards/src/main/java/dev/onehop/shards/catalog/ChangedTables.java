package dev.onehop.shards.catalog;

import dev.onehop.core.table.InconsistentRoutingTableException;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardId;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Finds which of many routing tables are no longer the newest, by two or three queries for all
 * tables. A moved range changes only {@code config.chunks}. The query for newer chunks uses the
 * index on collection and version, so it reads no chunk if no chunk is newer.
 */
final class ChangedTables {
  /** The most tables in one query. A query for this number has a size of about 50 KiB. */
  private static final int MOST = 500;

  private static final BsonDocument INCARNATION =
      BsonDocument.parse("{lastmodEpoch: 1, timestamp: 1, dropped: 1}");
  private static final BsonDocument PRIMARY = BsonDocument.parse("{primary: 1, version: 1}");
  private static final BsonDocument WHOSE = BsonDocument.parse("{_id: 0, uuid: 1, ns: 1}");

  private final ConfigReader config;
  private final Supplier<Map<ShardId, String>> shardNames;

  ChangedTables(ConfigReader config, Supplier<Map<ShardId, String>> shardNames) {
    this.config = config;
    this.shardNames = shardNames;
  }

  /** The namespaces of those tables that are no longer the newest. */
  Mono<Set<String>> among(Collection<RoutingTable> tables) {
    return Flux.fromIterable(tables)
        .buffer(MOST)
        .concatMap(this::changed)
        .collect(HashSet::new, Set::addAll);
  }

  private Mono<Set<String>> changed(List<RoutingTable> tables) {
    return byId("collections", tables.stream().map(RoutingTable::namespace), INCARNATION)
        .flatMap(
            entries -> {
              Set<String> changed = new HashSet<>();
              for (RoutingTable table : tables) {
                if (!fits(table, entries.get(table.namespace()))) {
                  changed.add(table.namespace());
                }
              }
              List<RoutingTable> others =
                  tables.stream().filter(each -> !changed.contains(each.namespace())).toList();
              return moved(others.stream().filter(RoutingTable::isSharded).toList(), changed)
                  .then(
                      rehomed(others.stream().filter(each -> !each.isSharded()).toList(), changed))
                  .thenReturn(changed);
            });
  }

  private static boolean fits(RoutingTable table, @Nullable BsonDocument entry) {
    if (entry == null || entry.getBoolean("dropped", BsonBoolean.FALSE).getValue()) {
      return !table.isSharded();
    }
    return table.isSharded() && RoutingTableLoader.sameIncarnation(entry, table.version());
  }

  /** Adds the tables with newer chunks. */
  private Mono<Void> moved(List<RoutingTable> sharded, Set<String> changed) {
    if (sharded.isEmpty()) {
      return Mono.empty();
    }
    Map<BsonValue, String> namespaces = new HashMap<>();
    BsonArray newer = new BsonArray();
    for (RoutingTable table : sharded) {
      BsonDocument itsChunks = RoutingTableLoader.chunksOf(table);
      namespaces.put(itsChunks.get(itsChunks.getFirstKey()), table.namespace());
      newer.add(
          itsChunks.append("lastmod", new BsonDocument("$gt", table.version().toTimestamp())));
    }
    return config
        .batches(
            ConfigReader.query("chunks", new BsonDocument("$or", newer))
                .append("projection", WHOSE))
        .flatMapIterable(Function.identity())
        .doOnNext(
            chunk -> {
              for (BsonValue whose : chunk.values()) {
                String namespace = namespaces.get(whose);
                if (namespace != null) {
                  changed.add(namespace);
                }
              }
            })
        .then();
  }

  /** Adds the tables whose database has another primary shard. */
  private Mono<Void> rehomed(List<RoutingTable> unsharded, Set<String> changed) {
    if (unsharded.isEmpty()) {
      return Mono.empty();
    }
    return byId("databases", unsharded.stream().map(ChangedTables::database).distinct(), PRIMARY)
        .doOnNext(
            databases -> {
              for (RoutingTable table : unsharded) {
                BsonDocument database = databases.get(database(table));
                if (database == null || !isPrimary(table, database)) {
                  changed.add(table.namespace());
                }
              }
            })
        .then();
  }

  private boolean isPrimary(RoutingTable table, BsonDocument database) {
    try {
      RoutingTable now = RoutingTable.unsharded(table.namespace(), database, shardNames.get());
      return now.primaryShard().equals(table.primaryShard())
          && now.databaseVersion().equals(table.databaseVersion());
    } catch (InconsistentRoutingTableException unknownShard) {
      return false;
    }
  }

  private Mono<Map<String, BsonDocument>> byId(
      String collection, Stream<String> ids, BsonDocument fields) {
    BsonArray wanted = new BsonArray(ids.map(BsonString::new).toList());
    return config
        .batches(
            ConfigReader.query(collection, new BsonDocument("_id", new BsonDocument("$in", wanted)))
                .append("projection", fields))
        .flatMapIterable(Function.identity())
        .collectMap(each -> each.getString("_id").getValue());
  }

  private static String database(RoutingTable table) {
    return table.namespace().substring(0, table.namespace().indexOf('.'));
  }
}
