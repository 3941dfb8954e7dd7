package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a run was made.
 *
 * @param started when it started, ISO-8601 with offset
 * @param command the command line that repeats it
 * @param complete false if it was interrupted or failed before its last point
 * @param stopped why it ended early; null if it did not
 * @param pointsPlanned how many points were planned
 * @param load what was loaded and how it was measured; its parts stand beside the others in the
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
   * What was loaded and how it was measured: what a bench says of its run.
   *
   * @param records documents that were loaded
   * @param workload the workload's name or file, or what it is in words
   * @param properties YCSB properties given on the command line
   * @param placement what the check of the documents' places found; null where shards can't be
   *     asked
   * @param missing what could not be found out, and why, in words
   * @param rounds how often each point was to be measured
   * @param seed what the random order of the points, and of the resamples of intervals, came from
   * @param processors which processors clients, routers and servers ran on, in words; null where
   *     that is not known
   * @param experiment what the parameters are known as, such as the experiment of 2014; null for
   *     parameters of the run's own
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

    /** What a file left out is none. */
    public Load {
      properties = properties == null ? Map.of() : properties;
      missing = missing == null ? List.of() : List.copyOf(missing);
      rounds = Math.max(1, rounds);
    }

    /** A load without properties, placement, processors and experiment. */
    public static Load of(
        long records, String workload, List<String> missing, int rounds, long seed) {
      return new Load(records, workload, Map.of(), null, missing, rounds, seed, null, null);
    }
  }

  /**
   * Where the documents were after loading, seen on the shards themselves.
   *
   * @param documents documents per shard
   * @param misplaced documents on a shard that {@code config.chunks} says is not their owner
   */
  public record Placement(Map<String, Long> documents, long misplaced) {
    /** Documents that a file left out are none. */
    public Placement {
      documents = documents == null ? Map.of() : documents;
    }
  }
}
