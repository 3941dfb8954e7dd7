package dev.onehop.measure.joining;

import dev.onehop.resync.ResyncMethod;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The cells to measure: each combination of sizes, numbers of collections, numbers of indexes and
 * methods.
 *
 * @param methods the methods
 * @param indexes the numbers of secondary indexes per collection
 * @param collections the numbers of collections that share the data
 * @param mebibytes the sizes of all documents together
 * @param rounds the number of measurements of each cell
 * @param within the time for all cells, divided evenly between the data sets. When the time for a
 *     data set is over, no further round begins, but each cell is measured at least once. Null for
 *     no limit
 * @param oplogMebibytes the size of each oplog
 * @param seed the seed of the documents
 * @param mongod the server's program; null to search for one
 * @param folder the folder of the servers' data during the run; null for a temporary folder
 */
public record ResyncBenchPlan(
    List<ResyncMethod> methods,
    List<Integer> indexes,
    List<Integer> collections,
    List<Integer> mebibytes,
    int rounds,
    @Nullable Duration within,
    int oplogMebibytes,
    long seed,
    @Nullable Path mongod,
    @Nullable Path folder) {

  /** The number of cells. */
  public int cells() {
    return methods.size() * loads();
  }

  /** The number of loads: each is written once. */
  int loads() {
    return indexes.size() * collections.size() * mebibytes.size();
  }
}
