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
 * @param started its start, ISO-8601 with offset
 * @param command the command line that repeats it
 * @param complete false if it was interrupted or failed before its last point
 * @param stopped the reason of an early end; null if it did not end early
 * @param pointsPlanned the number of planned points
 * @param load the data and the way of measuring; its fields are at the level of the others in the
 *     file
 */
public record RunFacts(
    String started,
    String command,
    boolean complete,
    @Nullable String stopped,
    int pointsPlanned,
    @JsonUnwrapped Load load) {

  /**
   * The data and the way of measuring, as the bench reports them.
   *
   * @param records the number of loaded documents
   * @param workload the workload's name or file, or a description
   * @param properties YCSB properties from the command line
   * @param placement the result of the check of the documents' owners; null if the shards cannot be
   *     reached
   * @param missing facts that could not be found out, with the reasons
   * @param rounds the number of planned measurements of each point
   * @param seed the seed of the random order of the points, and of the resamples of intervals
   * @param processors the processors of clients, routers and servers, in words; null if unknown
   * @param experiment the name of the experiment with these parameters, such as the one of 2014;
   *     null for parameters of the run's own
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

    /** The rounds are missing in some files. */
    public Load {
      rounds = Math.max(1, rounds);
    }

    /** A load without properties, placement, processors and experiment. */
    public static Load of(
        long records, String workload, List<String> missing, int rounds, long seed) {
      return new Load(records, workload, Map.of(), null, missing, rounds, seed, null, null);
    }
  }

  /**
   * The documents' shards after loading, counted on the shards themselves.
   *
   * @param documents documents per shard
   * @param misplaced documents on a shard that does not own them, by {@code config.chunks}
   */
  public record Placement(Map<String, Long> documents, long misplaced) {}
}
