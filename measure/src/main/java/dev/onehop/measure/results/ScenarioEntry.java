package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What one client did with operations that were to be issued at a fixed rate, in one phase and on
 * some of the shards.
 *
 * <p>An operation belongs to the phase in which it was to be issued. {@code intended} is {@code
 * completed} and {@code errors} together.
 *
 * @param scenario what happened to the cluster, such as {@code shard-freeze}; {@link #RATE} if
 *     nothing did
 * @param mode the client's mode
 * @param connections the pool size per server, or how many sockets requests share
 * @param pipelining whether many requests were in flight on each socket
 * @param rate operations per second that were to be issued
 * @param arrivals {@code constant} or {@code poisson}
 * @param phase {@code before}, {@code during} or {@code after} what happened; {@code all} if
 *     nothing did
 * @param shards {@code healthy} for those that nothing happened to, {@code affected}, or {@code
 *     all}
 * @param intended operations that were to be issued
 * @param completed those that were answered, be it after the phase
 * @param errors those that failed, were not issued or not answered by the end
 * @param notIssued those among them that were not issued; of the whole run in each of its phases
 * @param unanswered those among them that were issued and not answered; likewise
 * @param perSecond operations that were answered within the phase, per second
 * @param latency from the intended time to the answer, in microseconds; an operation that was not
 *     answered counts with the time that it has waited, so that figures are lower bounds then
 * @param service from issuing the operation to the answer
 * @param seconds how long the phase is
 * @param rounds every round, as they were measured; this one is that of the median p99, but for
 *     errors, which are of all
 * @param cpu processor time per operation; null where nothing is known of it
 * @param conditions how it was measured; null where nothing is known of it
 * @param folder where its logs are, relative to the results' folder
 */
@JsonInclude(Include.ALWAYS)
public record ScenarioEntry(
    String scenario,
    String mode,
    int connections,
    boolean pipelining,
    double rate,
    String arrivals,
    String phase,
    String shards,
    long intended,
    long completed,
    long errors,
    long notIssued,
    long unanswered,
    double perSecond,
    LatencySummary latency,
    LatencySummary service,
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
  public record Round(double perSecond, long p99) {}

  /** What a file left out is none. */
  public ScenarioEntry {
    rounds =
        rounds == null || rounds.isEmpty()
            ? List.of(new Round(perSecond, latency == null ? 0 : latency.p99()))
            : List.copyOf(rounds);
  }

  /**
   * A rate that was measured several times: the round of the median p99, the lower of two, with the
   * errors of all.
   *
   * @param rounds in the order measured, at least one
   */
  public static ScenarioEntry median(List<ScenarioEntry> rounds) {
    List<ScenarioEntry> ascending =
        rounds.stream().sorted(Comparator.comparingLong(each -> each.latency().p99())).toList();
    ScenarioEntry median = ascending.get((ascending.size() - 1) / 2);
    return new ScenarioEntry(
        median.scenario,
        median.mode,
        median.connections,
        median.pipelining,
        median.rate,
        median.arrivals,
        median.phase,
        median.shards,
        median.intended,
        median.completed,
        rounds.stream().mapToLong(ScenarioEntry::errors).sum(),
        rounds.stream().mapToLong(ScenarioEntry::notIssued).sum(),
        rounds.stream().mapToLong(ScenarioEntry::unanswered).sum(),
        median.perSecond,
        median.latency,
        median.service,
        median.seconds,
        rounds.stream().flatMap(each -> each.rounds().stream()).toList(),
        median.cpu,
        median.conditions,
        median.folder);
  }

  /** Whether latencies are lower bounds, as some operations were not answered by the end. */
  @JsonIgnore
  public boolean isLowerBound() {
    return notIssued + unanswered > 0;
  }

  /** The client, apart from what it was asked to do. */
  @JsonIgnore
  public Client client() {
    return new Client(mode, connections, pipelining);
  }

  /** Entries by their rate, ascending, each in its order. */
  public static TreeMap<Double, List<ScenarioEntry>> byRate(List<ScenarioEntry> entries) {
    TreeMap<Double, List<ScenarioEntry>> byRate = new TreeMap<>();
    entries.forEach(
        each -> byRate.computeIfAbsent(each.rate(), rate -> new java.util.ArrayList<>()).add(each));
    return byRate;
  }
}
