package dev.onehop.jmh.core;

import dev.onehop.core.bson.SortableKey;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import dev.onehop.jmh.check.Bar;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
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

/** The whole routing decision: finds the shards that a filter or a document concerns. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx2g")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class TargetingBenchmark {
  private static final int QUERIES = 1 << 12;
  private static final int LISTED = 10;

  /** The number of chunks of the collection. */
  @Param("1000000")
  public int chunks;

  private final BsonString[] ids = new BsonString[QUERIES];
  private final BsonDocument[] equalities = new BsonDocument[QUERIES];
  private final BsonDocument[] ranges = new BsonDocument[QUERIES];
  private final BsonDocument[] lists = new BsonDocument[QUERIES];
  private RoutingTable table;
  private int next;

  /** Builds the table and random queries. */
  @Setup
  public void fill() {
    table = new StringChunks(chunks).table();
    Random random = new Random(42);
    for (int i = 0; i < QUERIES; i++) {
      ids[i] = id(random);
      equalities[i] = new BsonDocument("_id", ids[i]);
      BsonString above = new BsonString(ids[i].getValue() + "~");
      ranges[i] =
          new BsonDocument("_id", new BsonDocument("$gte", ids[i]).append("$lt", above))
              .append("field0", new BsonString("x"));
      BsonArray listed = new BsonArray();
      for (int n = 0; n < LISTED; n++) {
        listed.add(id(random));
      }
      lists[i] = new BsonDocument("_id", new BsonDocument("$in", listed));
    }
  }

  private static BsonString id(Random random) {
    return new BsonString(StringChunks.randomKey(random));
  }

  private int next() {
    next = (next + 1) & (QUERIES - 1);
    return next;
  }

  /** Finds the shard of a point read. */
  @Bar(
      name = "targeting",
      baseline = "encodeAndLookup",
      parameters = "chunks=100000",
      atLeast = 0.2)
  @Benchmark
  public Target equality() {
    return Targeter.find(table, equalities[next()], TargetingOptions.NONE);
  }

  /** Finds the shards of a short range of the key, with a condition on another field. */
  @Benchmark
  public Target range() {
    return Targeter.find(table, ranges[next()], TargetingOptions.NONE);
  }

  /** Finds the shards of a list of ten keys. */
  @Benchmark
  public Target listOfTen() {
    return Targeter.find(table, lists[next()], TargetingOptions.NONE);
  }

  /** Finds the shard of an insert. */
  @Benchmark
  public Target insert() {
    return Targeter.insert(table, equalities[next()]);
  }

  /** The least work for a point read: encodes the key and finds its chunk. */
  @Benchmark
  public String encodeAndLookup() {
    return table.shardOf(SortableKey.encode(ids[next()]));
  }
}
