package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The results of a bench run: the content of {@code results.json}.
 *
 * @param envelope the common part of all such files
 * @param points the finished points of closed loops in the order of the plan
 * @param scenarios operations at a fixed rate, by client and phase
 * @param timelines the effects of faults on them, by second
 * @param ratios clients compared with the best official client
 * @param zones the bytes across zones
 * @param clients the clients of points with several clients
 * @param fleets the resource use at the servers of many instances of an application
 */
public record Results(
    @JsonUnwrapped Envelope envelope,
    List<Point> points,
    @JsonInclude(Include.NON_EMPTY) List<ScenarioEntry> scenarios,
    @JsonInclude(Include.NON_EMPTY) List<Timeline> timelines,
    @JsonInclude(Include.NON_EMPTY) List<Ratio> ratios,
    @JsonInclude(Include.NON_EMPTY) List<ZonesResult> zones,
    @JsonInclude(Include.NON_EMPTY) List<ClientRun> clients,
    @JsonInclude(Include.NON_EMPTY) List<FleetResult> fleets)
    implements RunResults {

  /** Results of closed loops without comparisons. */
  public Results(Envelope envelope, List<Point> points) {
    this(envelope, points, List.of(), List.of(), List.of(), List.of(), List.of(), List.of());
  }

  @Override
  public String fault() {
    return errors() == 0 ? "" : errors() + " operations failed";
  }

  @Override
  public int finished() {
    int clients =
        timelines.stream().mapToInt(each -> each.lines().size()).sum()
            + zones.stream().mapToInt(each -> each.lines().size()).sum()
            + fleets.stream().mapToInt(each -> each.lines().size()).sum();
    return points.size() + entries(ScenarioEntry.RATE).size() + clients;
  }

  /** Failed operations of all points. Operations at a fixed rate are counted separately. */
  public long errors() {
    return points.stream().mapToLong(Point::errors).sum();
  }

  /** Whether other machines on the host took processor time during a measurement. */
  @JsonIgnore
  public boolean isDisturbed() {
    return Stream.concat(
            points.stream().map(Point::conditions),
            scenarios.stream().map(ScenarioEntry::conditions))
        .anyMatch(conditions -> conditions != null && conditions.isDisturbed());
  }

  /** The entries of a scenario, in the order they ran. */
  public List<ScenarioEntry> entries(String scenario) {
    return scenarios.stream().filter(each -> each.scenario().equals(scenario)).toList();
  }

  /** The shards that served operations, sorted. */
  public List<String> shards() {
    return points.stream()
        .flatMap(p -> p.evidence().share().keySet().stream())
        .distinct()
        .sorted()
        .toList();
  }

  /** The kinds of measured operations, with YCSB's names. */
  public Set<String> operations() {
    Set<String> operations = new LinkedHashSet<>();
    points.forEach(point -> operations.addAll(point.latencies().byOperation().keySet()));
    return operations;
  }
}
