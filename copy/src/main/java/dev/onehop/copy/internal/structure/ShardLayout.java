package dev.onehop.copy.internal.structure;

import com.mongodb.MongoCommandException;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.core.table.Chunk;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyPattern;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;

/**
 * Spreads an empty sharded collection over the shards of the destination, so that all shards
 * receive documents from the beginning.
 */
record ShardLayout(ClusterEnd destination, Consumer<String> notes) {
  private static final int TRIES = 5;
  private static final int CONFLICTING_OPERATION = 117;

  /**
   * Adds the ranges of the source's zones at the destination. If a zone has no shard there, its
   * ranges are left out.
   */
  void addZones(String namespace, List<BsonDocument> zones) throws InterruptedException {
    Map<String, List<String>> shards = shardsOfZones();
    TreeSet<String> unknown = new TreeSet<>();
    for (BsonDocument zone : zones) {
      String name = zone.getString("tag").getValue();
      if (shards.containsKey(name)) {
        destination.runPersistently(
            "admin",
            new BsonDocument("updateZoneKeyRange", new BsonString(namespace))
                .append("min", zone.get("min"))
                .append("max", zone.get("max"))
                .append("zone", zone.get("tag")));
      } else {
        unknown.add(name);
      }
    }
    if (!unknown.isEmpty()) {
      notes.accept(
          "the ranges of zone %s in %s are not copied: no shard of the destination is in this zone"
              .formatted(String.join(", ", unknown), namespace));
    }
  }

  private Map<String, List<String>> shardsOfZones() throws InterruptedException {
    Map<String, List<String>> shards = new HashMap<>();
    for (BsonDocument shard : destination.metadata("shards", new BsonDocument())) {
      for (BsonValue zone : shard.getArray("tags", new BsonArray())) {
        shards
            .computeIfAbsent(zone.asString().getValue(), name -> new ArrayList<>())
            .add(shard.getString("_id").getValue());
      }
    }
    return shards;
  }

  /** Splits a collection at some shard keys, and moves the chunks to the shards in turn. */
  void split(String namespace, List<BsonDocument> points) throws InterruptedException {
    for (BsonDocument point : points) {
      RoutingTable before = table(namespace);
      byte[] key = before.shardKeyPattern().keyOfBound(point);
      if (!before.chunk(before.chunkIndexOf(key)).min().equals(point)
          && !attempt(
              namespace,
              new BsonDocument("split", new BsonString(namespace)).append("middle", point))) {
        return;
      }
    }
    RoutingTable table = table(namespace);
    List<BsonDocument> zones =
        destination.metadata("tags", new BsonDocument("ns", new BsonString(namespace)));
    Map<String, List<String>> ofZones = shardsOfZones();
    List<String> all = new ArrayList<>(destination.shards().keySet());
    for (int i = 0; i < table.chunkCount(); i++) {
      Chunk chunk = table.chunk(i);
      List<String> allowed = allowed(table.shardKeyPattern(), chunk, zones, ofZones, all);
      String shard = allowed.get(i % allowed.size());
      if (!shard.equals(chunk.shard())
          && !attempt(
              namespace,
              new BsonDocument("moveChunk", new BsonString(namespace))
                  .append("bounds", new BsonArray(List.of(chunk.min(), chunk.max())))
                  .append("to", new BsonString(shard)))) {
        return;
      }
    }
  }

  /** The shards that may own a chunk: the shards of its zone, or all shards if it is in no zone. */
  private static List<String> allowed(
      ShardKeyPattern pattern,
      Chunk chunk,
      List<BsonDocument> zones,
      Map<String, List<String>> ofZones,
      List<String> all) {
    byte[] min = pattern.keyOfBound(chunk.min());
    for (BsonDocument zone : zones) {
      if (Arrays.compareUnsigned(pattern.keyOfBound(zone.getDocument("min")), min) <= 0
          && Arrays.compareUnsigned(min, pattern.keyOfBound(zone.getDocument("max"))) < 0) {
        return ofZones.getOrDefault(zone.getString("tag").getValue(), all);
      }
    }
    return all;
  }

  private RoutingTable table(String namespace) throws InterruptedException {
    return destination.one(
        () ->
            destination
                .servers()
                .table(namespace, null)
                .flatMap(known -> destination.servers().table(namespace, known)));
  }

  /**
   * Runs a command. The command is retried after a refusal, because the balancer may be the cause.
   * After a few refusals, the method gives up, because an uneven layout does no harm.
   *
   * @return whether the command has succeeded
   */
  private boolean attempt(String namespace, BsonDocument command) throws InterruptedException {
    int refusals = 0;
    for (int tries = 1; ; tries++) {
      try {
        destination.run("admin", command);
        return true;
      } catch (RuntimeException failure) {
        boolean unreachable = Waits.isPassing(failure) && !isBusy(failure);
        if (!unreachable && !(failure instanceof MongoCommandException)) {
          throw failure;
        }
        refusals += unreachable ? 0 : 1;
        if (refusals == TRIES) {
          notes.accept(
              "the chunks of %s are not spread evenly: %s"
                  .formatted(namespace, Waits.reason(failure)));
          return false;
        }
        Waits.pause("the layout of " + namespace, failure, tries);
      }
    }
  }

  private static boolean isBusy(RuntimeException failure) {
    return failure instanceof MongoCommandException refused
        && refused.getErrorCode() == CONFLICTING_OPERATION;
  }
}
