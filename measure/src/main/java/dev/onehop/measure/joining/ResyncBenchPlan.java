package dev.onehop.measure.joining;

import dev.onehop.resync.ResyncMethod;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The matrix to measure.
 *
 * @param methods the methods
 * @param indexes numbers of secondary indexes per collection
 * @param collections numbers of collections that share the data
 * @param mebibytes sizes of all documents
 * @param rounds the number of measurements of each cell
 * @param within the time after which no cell is measured again, if it was measured once; null for
 *     no limit
 * @param oplogMebibytes the size of the set's oplogs
 * @param seed the seed of the documents
 * @param mongod the server's program; null to find it
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

  /** The number of times that data is written. */
  int loads() {
    return indexes.size() * collections.size() * mebibytes.size();
  }
}
