package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The facts of a run.
 *
 * @param started the start of the run, in ISO-8601 with offset
 * @param command the command line that repeats the run
 * @param complete whether the run has measured all points; false if it was interrupted or failed
 *     before the last point
 * @param stopped the reason why the run ended early; null if it did not
 * @param pointsPlanned the number of planned points
 * @param load the data and the parameters of the measurement. In the file, the fields of {@code
 *     load} are at the same level as the other fields
 */
public record RunFacts(
    String started,
    String command,
    boolean complete,
    @Nullable String stopped,
    int pointsPlanned,
    @JsonUnwrapped Load load) {

  /**
   * The data and the parameters of the measurement, as the bench reports them.
   *
   * @param records the number of loaded documents
   * @param workload the workload's name or file, or a description
   * @param properties YCSB properties from the command line
   * @param placement the numbers of documents on the shards; null if the shards cannot be reached
   * @param missing the facts that are unknown, with the reasons
   * @param rounds how many times each point is measured
   * @param seed the seed of two random choices: the order of the points, and the resamples from
   *     which intervals are computed
   * @param processors the processors of clients, routers and servers, in words; null if unknown
   * @param experiment the name of the experiment with these parameters, such as the experiment of
   *     2014; null if no experiment has these parameters
   */
  public record Load(
      long records,
      String workload,
      Map<String, String> properties,
      @Nullable Placement placement,
      List<String> missing,
      int rounds,
      long seed,
      @Nullable String processors,
      @JsonInclude(Include.NON_NULL) @Nullable String experiment) {

    /** Sets the rounds to 1 for files without this field. */
    public Load {
      rounds = Math.max(1, rounds);
    }

    /** Creates a load without properties, placement, processors and experiment. */
    public static Load of(
        long records, String workload, List<String> missing, int rounds, long seed) {
      return new Load(records, workload, Map.of(), null, missing, rounds, seed, null, null);
    }
  }

  /**
   * The number of documents on each shard after loading, as counted on the shards themselves.
   *
   * @param documents the number of documents on each shard
   * @param misplaced the number of documents on a shard that does not own them according to {@code
   *     config.chunks}
   */
  public record Placement(Map<String, Long> documents, long misplaced) {}
}
