package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.onehop.measure.results.ShardLatencies.Phase;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What one client did with operations that were to be issued at a fixed rate, in one phase and on
 * some of the shards.
 *
 * <p>An operation belongs to the phase in which it was to be issued. The parts of {@code client}
 * and {@code figures} stand beside the others in the file.
 *
 * @param scenario what happened to the cluster, such as {@code shard-freeze}; {@link #RATE} if
 *     nothing did
 * @param client the client, apart from what it was asked to do
 * @param rate operations per second that were to be issued
 * @param arrivals {@code constant} or {@code poisson}
 * @param phase {@code before}, {@code during} or {@code after} what happened; {@code all} if
 *     nothing did
 * @param shards {@code healthy} for those that nothing happened to, {@code affected}, or {@code
 *     all}
 * @param figures what became of the operations
 * @param seconds how long the phase is
 * @param rounds every round, as they were measured; this one is that of the median p99, but for
 *     errors, which are of all
 * @param cpu processor time per operation, of a fault before it; null where nothing is known of it
 * @param conditions how it was measured; null where nothing is known of it
 * @param folder where its logs are, relative to the results' folder
 */
@JsonInclude(Include.ALWAYS)
public record ScenarioEntry(
    String scenario,
    @JsonUnwrapped Client client,
    double rate,
    String arrivals,
    String phase,
    String shards,
    @JsonUnwrapped Phase figures,
    double seconds,
    List<Round> rounds,
    @JsonInclude(Include.NON_NULL) @Nullable CpuPerOperation cpu,
    @JsonInclude(Include.NON_NULL) @Nullable Conditions conditions,
    String folder) {

  /** The {@link #scenario} of operations at a fixed rate while nothing happens. */
  public static final String RATE = "rate";

  /** All of it: the {@link #phase} and the {@link #shards} where there is only one. */
  public static final String ALL = "all";

  /**
   * One of the times that it was measured.
   *
   * @param perSecond operations answered per second
   * @param p99 99th percentile of the latency from the intended time, in microseconds
   */
  public record Round(double perSecond, long p99) {
    private static Round of(Phase figures) {
      return new Round(
          figures.perSecond(), figures.latency() == null ? 0 : figures.latency().p99());
    }
  }

  /** What a file left out is none. */
  public ScenarioEntry {
    rounds = rounds == null || rounds.isEmpty() ? List.of(Round.of(figures)) : List.copyOf(rounds);
  }

  /**
   * A rate that was measured several times: the round of the median p99, the lower of two, with the
   * errors of all.
   *
   * @param rounds in the order measured, at least one
   */
  public static ScenarioEntry median(List<ScenarioEntry> rounds) {
    List<ScenarioEntry> ascending =
        rounds.stream()
            .sorted(Comparator.comparingLong(each -> each.figures().latency().p99()))
            .toList();
    ScenarioEntry median = ascending.get((ascending.size() - 1) / 2);
    return new ScenarioEntry(
        median.scenario,
        median.client,
        median.rate,
        median.arrivals,
        median.phase,
        median.shards,
        median.figures.withErrors(rounds.stream().map(ScenarioEntry::figures).toList()),
        median.seconds,
        rounds.stream().flatMap(each -> each.rounds().stream()).toList(),
        median.cpu,
        median.conditions,
        median.folder);
  }

  /** Whether latencies are lower bounds, as some operations were not answered by the end. */
  @JsonIgnore
  public boolean isLowerBound() {
    return figures.notIssued() + figures.unanswered() > 0;
  }

  /** Entries by their rate, ascending, each in its order. */
  public static TreeMap<Double, List<ScenarioEntry>> byRate(List<ScenarioEntry> entries) {
    TreeMap<Double, List<ScenarioEntry>> byRate = new TreeMap<>();
    entries.forEach(
        each -> byRate.computeIfAbsent(each.rate(), rate -> new java.util.ArrayList<>()).add(each));
    return byRate;
  }
}
