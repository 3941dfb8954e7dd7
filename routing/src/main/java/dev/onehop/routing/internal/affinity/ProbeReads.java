package dev.onehop.routing.internal.affinity;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyField;
import dev.onehop.core.table.ShardKeyPattern;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import dev.onehop.routing.internal.affinity.RouterProbe.ShardRead;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;

/**
 * Finds, for each shard, a read that only this shard executes. The loaded routing tables show such
 * reads: equality on the whole shard key, or any read of an unsharded collection on its primary
 * shard. Usually, a shard without such a read owns no data of the collections in use.
 */
final class ProbeReads {
  /**
   * The number of shard key values that are tried per shard and collection. With a hashed shard
   * key, a chunk's bounds are hashes. No value can be calculated from a hash, so values are tried
   * until one is in a chunk of the shard.
   */
  private static final int TRIES = 200;

  private ProbeReads() {}

  /** Returns a read for each shard that has one. */
  static Map<String, ShardRead> find(Iterable<RoutingTable> tables, Set<String> shards) {
    Map<String, ShardRead> reads = new HashMap<>();
    for (RoutingTable table : tables) {
      int dot = table.namespace().indexOf('.');
      String database = table.namespace().substring(0, dot);
      String collection = table.namespace().substring(dot + 1);
      if (!table.isSharded() || table.isUnsplittable()) {
        String shard = table.isSharded() ? table.shards().first() : table.primaryShard();
        if (shards.contains(shard)) {
          reads.putIfAbsent(
              shard,
              new ShardRead(database, collection, new BsonDocument("_id", new BsonInt32(-1))));
        }
        continue;
      }
      for (String shard : table.shards()) {
        if (shards.contains(shard) && !reads.containsKey(shard)) {
          BsonDocument filter = filter(table, shard);
          if (filter != null) {
            reads.put(shard, new ShardRead(database, collection, filter));
          }
        }
      }
    }
    return reads;
  }

  private static @org.jspecify.annotations.Nullable BsonDocument filter(
      RoutingTable table, String shard) {
    ShardKeyPattern pattern = table.shardKeyPattern();
    for (int i = 0; i < table.chunkCount(); i++) {
      if (table.shardOfChunk(i).equals(shard)) {
        BsonDocument lowest = table.chunk(i).min();
        if (leadsTo(table, lowest, shard)) {
          return lowest;
        }
        break;
      }
    }
    for (int number = 0; number < TRIES; number++) {
      BsonDocument some = new BsonDocument();
      BsonValue value = new BsonInt32(number);
      for (ShardKeyField field : pattern.fields()) {
        some.append(field.path().toString(), value);
      }
      if (leadsTo(table, some, shard)) {
        return some;
      }
    }
    return null;
  }

  private static boolean leadsTo(RoutingTable table, BsonDocument filter, String shard) {
    Target target = Targeter.find(table, filter, TargetingOptions.NONE);
    return target.isSingleShard() && target.shard().equals(shard);
  }
}
