package dev.onehop.copy.internal.full;

import dev.onehop.copy.internal.KeyFields;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.CollectionSpec.Sharding;
import dev.onehop.copy.internal.structure.DestinationStructure;
import dev.onehop.copy.internal.structure.KeySamples;
import dev.onehop.copy.internal.structure.KeySamples.Size;
import dev.onehop.copy.internal.structure.ReadOrder;
import dev.onehop.core.table.Chunk;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyPattern;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Divides collections into ranges of about the same size. Each range has one owner at the time of
 * the division. The reader of a range checks the owner again.
 *
 * @param rangeBytes about how many bytes a range should have
 * @param order the index that sets the order of the documents, in the collections that have this
 *     index. Null if all collections are read in the order of their shard key or of {@code _id}
 */
public record RangePlanner(ClusterEnd source, long rangeBytes, @Nullable ReadOrder order) {
  private static final BsonDocument INDEX_OF_ID = new BsonDocument("key", KeyFields.BY_ID);
  private static final int SAMPLES_PER_RANGE = 20;
  private static final int MOST_SAMPLES = 20_000;
  private static final int CHUNKS_PER_SHARD = 8;

  /**
   * The number n of samples for the layout. With three shards, the relative standard error of a
   * shard's size is the square root of 2 / n: 3.2 percent. More samples would delay the copy: after
   * migrations, a server may need 5 ms for each sample.
   */
  private static final int SAMPLES_OF_LAYOUT = 2_000;

  private static final long SAMPLED_BYTES = 64L << 20;

  /**
   * Returns shard keys that split a collection evenly over the shards of a destination. The list is
   * empty if the collection is not sharded there, or if the servers split the collection
   * themselves.
   */
  public List<BsonDocument> points(CollectionSpec spec, ClusterEnd destination)
      throws InterruptedException {
    Sharding sharding = spec.sharding();
    if (sharding == null || !destination.isSharded() || sharding.isSplitByServers()) {
      return List.of();
    }
    Map<String, Size> sizes = sizes(spec);
    Size all = sum(sizes);
    if (all.documents() == 0) {
      return List.of();
    }
    int points = destination.shards().size() * CHUNKS_PER_SHARD - 1;
    // A server may have to sort its sample in memory, so the sample must be small enough.
    long fitting = SAMPLED_BYTES / Math.max(1, all.bytes() / all.documents());
    long wanted = Math.max(Math.min(SAMPLES_OF_LAYOUT, fitting), (long) points * SAMPLES_PER_RANGE);
    return points(spec.stored(), ShardKeyPattern.of(sharding.key()), sizes, points, wanted);
  }

  private List<BsonDocument> points(
      String namespace, ShardKeyPattern pattern, Map<String, Size> sizes, int points, long wanted)
      throws InterruptedException {
    long documents = sum(sizes).documents();
    long all = Math.min(MOST_SAMPLES, wanted);
    // A shard's share of the sample is its share of the documents.
    TreeMap<byte[], BsonDocument> keys = new TreeMap<>(Arrays::compareUnsigned);
    for (Map.Entry<String, Size> shard : sizes.entrySet()) {
      int share = (int) (all * shard.getValue().documents() / Math.max(1, documents)) + 1;
      if (shard.getValue().documents() > 0) {
        for (BsonDocument sample :
            samples().keys(namespace, shard.getKey(), pattern, share, shard.getValue())) {
          keys.put(pattern.keyOfBound(sample), sample);
        }
      }
    }
    return KeySamples.quantiles(new ArrayList<>(keys.values()), points, 1);
  }

  private KeySamples samples() {
    return new KeySamples(source);
  }

  private static Size sum(Map<String, Size> sizes) {
    return sizes.values().stream().reduce(Size.NONE, Size::plus);
  }

  private Map<String, Size> sizes(CollectionSpec spec) throws InterruptedException {
    try {
      return samples().sizes(spec.stored());
    } catch (CommandFailure gone) {
      if (gone.code() == ErrorCodes.NAMESPACE_NOT_FOUND) {
        return Map.of();
      }
      throw gone;
    }
  }

  /** A collection with the key of its ranges, and the ranges. */
  public record Planned(CopiedCollection collection, List<KeyRange> ranges) {}

  /** Divides a collection into ranges. */
  public Planned plan(CopiedCollection collection) throws InterruptedException {
    CollectionSpec spec = collection.spec();
    Map<String, Size> sizes = sizes(spec);
    long documents = sum(sizes).documents();
    if (sizes.isEmpty()) {
      // No shard has the collection: its database was dropped.
      return new Planned(collection.planned(KeyFields.BY_ID, INDEX_OF_ID, 0), List.of());
    }
    BsonDocument wanted = order == null ? null : order.of(spec);
    if (wanted != null) {
      BsonDocument key = wanted.getDocument("key");
      return new Planned(
          collection.planned(key, wanted, documents), inOrder(collection, key, sizes));
    }
    RoutingTable table =
        source.isSharded() ? source.one(() -> source.servers().table(spec.stored(), null)) : null;
    if (spec.isCapped()) {
      return new Planned(
          collection.planned(KeyFields.BY_ID, null, documents),
          KeyRange.between(
              collection.number(),
              KeyFields.BY_ID,
              List.of(),
              (number, from) -> sizes.keySet().iterator().next()));
    }
    if (table == null || !table.isSharded()) {
      String shard = table == null ? ClusterEnd.ALONE : table.primaryShard();
      return new Planned(
          collection.planned(KeyFields.BY_ID, INDEX_OF_ID, documents),
          ofOneShard(collection, shard, sizes.getOrDefault(shard, Size.NONE)));
    }
    BsonDocument key = table.shardKeyPattern().toBsonDocument();
    return new Planned(
        collection.planned(key, index(spec.stored(), key), documents),
        ofShards(collection, table, sizes));
  }

  /** An index that supports a shard key. */
  private BsonDocument index(String namespace, BsonDocument key) throws InterruptedException {
    for (BsonDocument index :
        source.all(source.collection(namespace).listIndexes(BsonDocument.class))) {
      if (DestinationStructure.supports(index, key)) {
        return new BsonDocument("name", index.get("name")).append("key", index.get("key"));
      }
    }
    throw new IllegalStateException(namespace + " has no index of its shard key");
  }

  private int ranges(Size size) {
    return (int) Math.min(MOST_SAMPLES / 2, Math.max(1, size.bytes() / rangeBytes));
  }

  private List<BsonDocument> points(
      String namespace, String shard, ShardKeyPattern pattern, Size size)
      throws InterruptedException {
    int ranges = ranges(size);
    return ranges == 1
        ? List.of()
        : KeySamples.quantiles(
            samples()
                .keys(
                    namespace,
                    shard,
                    pattern,
                    Math.min(MOST_SAMPLES, ranges * SAMPLES_PER_RANGE),
                    size),
            ranges - 1,
            1);
  }

  private List<KeyRange> ofOneShard(CopiedCollection collection, String shard, Size size)
      throws InterruptedException {
    return KeyRange.between(
        collection.number(),
        KeyFields.BY_ID,
        points(collection.spec().stored(), shard, ShardKeyPattern.of(KeyFields.BY_ID), size),
        (number, from) -> shard);
  }

  /**
   * Ranges in the order of an index. Each range may have documents on all shards. The ranges are
   * assigned to the shards in turn, so that each shard has readers.
   */
  private List<KeyRange> inOrder(
      CopiedCollection collection, BsonDocument key, Map<String, Size> sizes)
      throws InterruptedException {
    ShardKeyPattern pattern = ShardKeyPattern.of(key);
    List<String> shards = List.copyOf(sizes.keySet());
    int wanted = ranges(sum(sizes));
    List<BsonDocument> bounds =
        new ArrayList<>(
            wanted == 1
                ? List.of()
                : points(
                    collection.spec().stored(),
                    pattern,
                    sizes,
                    wanted - 1,
                    (long) (wanted - 1) * SAMPLES_PER_RANGE));
    bounds.removeIf(bound -> KeyRange.isLowest(bound) || KeyRange.isHighest(bound));
    return KeyRange.between(
        collection.number(), key, bounds, (number, from) -> shards.get(number % shards.size()));
  }

  private List<KeyRange> ofShards(
      CopiedCollection collection, RoutingTable table, Map<String, Size> sizes)
      throws InterruptedException {
    ShardKeyPattern pattern = table.shardKeyPattern();
    TreeMap<byte[], BsonDocument> bounds = new TreeMap<>(Arrays::compareUnsigned);
    String owner = null;
    for (int i = 0; i < table.chunkCount(); i++) {
      String shard = table.shardOfChunk(i);
      if (!shard.equals(owner)) {
        Chunk chunk = table.chunk(i);
        bounds.put(pattern.keyOfBound(chunk.min()), chunk.min());
        owner = shard;
      }
    }
    for (Map.Entry<String, Size> shard : sizes.entrySet()) {
      for (BsonDocument point :
          points(collection.spec().stored(), shard.getKey(), pattern, shard.getValue())) {
        bounds.put(pattern.keyOfBound(point), point);
      }
    }
    // The first bound is the lowest key, which is not between two ranges.
    List<BsonDocument> all = List.copyOf(bounds.values());
    return KeyRange.between(
        collection.number(),
        pattern.toBsonDocument(),
        all.subList(1, all.size()),
        (number, from) -> table.shardOf(pattern.keyOfBound(from)));
  }
}
