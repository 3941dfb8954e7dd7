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
 * @param indexes counts of secondary indexes per collection
 * @param collections counts of collections that share the data
 * @param mebibytes sizes of all documents
 * @param rounds how often each cell is measured
 * @param within the time after which no cell is measured again, if once at least; null for all
 * @param oplogMebibytes how large the set's oplogs are
 * @param seed what the documents come from
 * @param mongod the server's program; null to find it
 * @param folder where the servers' data is meanwhile; null for a temporary folder
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

  /** Copies the lists. */
  public ResyncBenchPlan {
    methods = List.copyOf(methods);
    indexes = List.copyOf(indexes);
    collections = List.copyOf(collections);
    mebibytes = List.copyOf(mebibytes);
  }

  /** How many cells there are. */
  public int cells() {
    return methods.size() * loads();
  }

  /** How often data is written anew. */
  int loads() {
    return indexes.size() * collections.size() * mebibytes.size();
  }
}
