package dev.onehop.measure.results;

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
 * @param points the finished points of closed loops, in the order of the plan
 * @param scenarios the operations at a fixed rate, by client and phase
 * @param timelines by second, the effects of faults on operations at a fixed rate
 * @param ratios the clients, compared with the best official client
 * @param zones the bytes that crossed from one zone to another
 * @param clients each client of the points that several clients measured together
 * @param fleets the resources that many instances of an application use at the servers
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

  /** Creates results of closed loops without comparisons. */
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

  /** The number of failed operations of all points. Operations at a fixed rate do not count. */
  public long errors() {
    return points.stream().mapToLong(Point::errors).sum();
  }

  /** Whether other machines on the host took processor time during a measurement. */
  public boolean isDisturbed() {
    return Stream.concat(
            points.stream().map(Point::conditions),
            scenarios.stream().map(ScenarioEntry::conditions))
        .anyMatch(conditions -> conditions != null && conditions.isDisturbed());
  }

  /** Returns the entries of a scenario, in the order in which they ran. */
  public List<ScenarioEntry> entries(String scenario) {
    return scenarios.stream().filter(each -> each.scenario().equals(scenario)).toList();
  }

  /** The names of the shards that executed operations, sorted. */
  public List<String> shards() {
    return points.stream()
        .flatMap(p -> p.evidence().share().keySet().stream())
        .distinct()
        .sorted()
        .toList();
  }

  /** YCSB's names of the kinds of measured operations. */
  public Set<String> operations() {
    Set<String> operations = new LinkedHashSet<>();
    points.forEach(point -> operations.addAll(point.latencies().byOperation().keySet()));
    return operations;
  }
}
