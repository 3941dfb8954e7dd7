package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.onehop.measure.results.ShardLatencies.Phase;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one client with operations at a fixed rate, in one phase and on some of the
 * shards.
 *
 * <p>An operation belongs to the phase of its intended time. In the file, the fields of {@code
 * client} and {@code figures} are at the same level as the other fields.
 *
 * @param scenario the fault, such as {@code shard-freeze}; {@link #RATE} without a fault
 * @param client the client, without its load
 * @param rate the intended operations per second
 * @param arrivals {@code constant} or {@code poisson}
 * @param phase {@code before}, {@code during} or {@code after} the fault; {@code all} without a
 *     fault
 * @param shards {@code healthy} for the shards without a fault, {@code affected} for the shard with
 *     the fault, or {@code all}
 * @param figures the results of the operations
 * @param seconds the length of the phase
 * @param rounds every round, in the order of measurement. The other figures come from the round
 *     with the median p99, except the errors, which are the sum of all rounds
 * @param cpu the processor time per operation; with a fault, only of the operations before the
 *     fault; null if unknown
 * @param conditions the conditions of the measurement; null if unknown
 * @param folder the folder of the entry's logs, relative to the results' folder
 */
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

  /** The {@link #scenario} of operations at a fixed rate without a fault. */
  public static final String RATE = "rate";

  /**
   * The value of {@link #phase} for the only phase, and of {@link #shards} for all shards together.
   */
  public static final String ALL = "all";

  /**
   * One round of the measurement.
   *
   * @param perSecond the operations with a reply per second
   * @param p99 the 99th percentile of the latency from the intended time, in microseconds
   */
  public record Round(double perSecond, long p99) {
    private static Round of(Phase figures) {
      return new Round(
          figures.perSecond(), figures.latency() == null ? 0 : figures.latency().p99());
    }
  }

  /**
   * Creates the list of rounds for files without this field: one round with the entry's own
   * figures.
   */
  public ScenarioEntry {
    rounds = rounds == null || rounds.isEmpty() ? List.of(Round.of(figures)) : List.copyOf(rounds);
  }

  /**
   * Returns the result of several rounds: the round with the median p99, with the errors of all
   * rounds added. Of an even number of rounds, the lower of the two middle ones is taken.
   *
   * @param rounds the rounds in the order of measurement; at least one
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

  /** Whether latencies are lower bounds, because some operations had no reply in the end. */
  public boolean isLowerBound() {
    return figures.notIssued() + figures.unanswered() > 0;
  }
}
