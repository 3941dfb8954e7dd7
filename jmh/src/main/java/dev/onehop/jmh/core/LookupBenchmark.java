package dev.onehop.jmh.core;

import com.google.common.collect.ImmutableRangeMap;
import com.google.common.collect.Range;
import dev.onehop.core.bson.SortableKey;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.jmh.check.Bar;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import org.bson.BsonMinKey;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Finds the shard that owns a random {@code _id}, with this library and with common alternatives. A
 * search in a plain array shows the cost of memory access.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx2g")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class LookupBenchmark {
  private static final int QUERIES = 1 << 14;
  private static final Comparator<BsonValue> BSON_ORDER = LookupBenchmark::compare;

  /** The number of chunks of the collection. */
  @Param("1000000")
  public int chunks;

  private final byte[][] keys = new byte[QUERIES][];
  private final BsonString[] ids = new BsonString[QUERIES];
  private final long[] numbers = new long[QUERIES];
  private int next;

  private RoutingTable table;
  private long[] sorted;

  /**
   * The state of the benchmark with the range map. It is separate from the common state, so that
   * the other benchmarks do not fill this large map.
   */
  @State(Scope.Benchmark)
  public static class RangeMap {
    private ImmutableRangeMap<BsonString, String> map;

    /** Fills the map. */
    @Setup
    public void fill(LookupBenchmark benchmark) {
      StringChunks chunks = new StringChunks(benchmark.chunks);
      ImmutableRangeMap.Builder<BsonString, String> builder = ImmutableRangeMap.builder();
      builder.put(Range.lessThan(new BsonString(chunks.split(1))), StringChunks.shard(0));
      for (int i = 1; i < chunks.count() - 1; i++) {
        builder.put(
            Range.closedOpen(new BsonString(chunks.split(i)), new BsonString(chunks.split(i + 1))),
            StringChunks.shard(i));
      }
      int last = chunks.count() - 1;
      builder.put(Range.atLeast(new BsonString(chunks.split(last))), StringChunks.shard(last));
      map = builder.build();
    }
  }

  /** The state of the benchmark with the skip list, separate like {@link RangeMap}. */
  @State(Scope.Benchmark)
  public static class SkipList {
    private final ConcurrentSkipListMap<BsonValue, String> map =
        new ConcurrentSkipListMap<>(BSON_ORDER);

    /** Fills the map. */
    @Setup
    public void fill(LookupBenchmark benchmark) {
      StringChunks chunks = new StringChunks(benchmark.chunks);
      map.put(new BsonMinKey(), StringChunks.shard(0));
      for (int i = 1; i < chunks.count(); i++) {
        map.put(new BsonString(chunks.split(i)), StringChunks.shard(i));
      }
    }
  }

  /** Builds the table and random queries. */
  @Setup
  public void fill() {
    table = new StringChunks(chunks).table();
    Random random = new Random(42);
    sorted = random.longs(chunks).sorted().toArray();
    for (int i = 0; i < QUERIES; i++) {
      ids[i] = new BsonString(StringChunks.randomKey(random));
      keys[i] = SortableKey.encode(ids[i]);
      numbers[i] = random.nextLong();
    }
  }

  private int next() {
    next = (next + 1) & (QUERIES - 1);
    return next;
  }

  /** Finds the shard of an encoded key. */
  @Bar(
      name = "routing-table lookup",
      baseline = "guavaRangeMap",
      parameters = "chunks=100000",
      atLeast = 1.5)
  @Benchmark
  public String lookup() {
    return table.shardOf(keys[next()]);
  }

  /** Encodes a value and finds its shard. */
  @Benchmark
  public String encodeAndLookup() {
    return table.shardOf(SortableKey.encode(ids[next()]));
  }

  /** Finds the shard with Guava's range map and the driver's comparison of strings. */
  @Benchmark
  public @Nullable String guavaRangeMap(RangeMap map) {
    return map.map.get(ids[next()]);
  }

  /** Finds the shard with a skip list and a comparator of BSON values. */
  @Benchmark
  public String skipListFloorEntry(SkipList map) {
    return map.map.floorEntry(ids[next()]).getValue();
  }

  /** Searches an array with one number for each chunk: the cost of memory access alone. */
  @Benchmark
  public int binarySearchOfLongs() {
    return Arrays.binarySearch(sorted, numbers[next()]);
  }

  private static int compare(BsonValue a, BsonValue b) {
    if (a.isString() && b.isString()) {
      return a.asString().getValue().compareTo(b.asString().getValue());
    }
    return Boolean.compare(a.isString(), b.isString());
  }
}
