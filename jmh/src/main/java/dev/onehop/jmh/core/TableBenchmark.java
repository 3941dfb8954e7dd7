package dev.onehop.jmh.core;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.jmh.check.Bar;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
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

/** Building and refreshing a routing table. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx2g")
@Warmup(iterations = 3)
@Measurement(iterations = 7)
public class TableBenchmark {
  private static final int CHANGED = 100;

  /** The number of chunks of the collection. */
  @Param("1000000")
  public int chunks;

  private StringChunks documents;
  private RoutingTable table;
  private List<BsonDocument> changed;

  /** Builds the table to refresh, and the changed chunks. */
  @Setup
  public void fill() {
    documents = new StringChunks(chunks);
    table = documents.table();
    changed = documents.moved(CHANGED);
  }

  /** Builds a table from chunk documents, which are created on demand as by a cursor. */
  @Benchmark
  public RoutingTable build() {
    return documents.table();
  }

  /** Refreshes a table with 100 changed chunks, which are spread over the collection. */
  @Bar(name = "refresh", baseline = "build", parameters = "chunks=100000", atLeast = 10)
  @Benchmark
  public RoutingTable refresh() {
    return table.merge(StringChunks.collection(), changed);
  }
}
