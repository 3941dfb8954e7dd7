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
 * Everything a bench run found: the content of {@code results.json}.
 *
 * @param envelope what every such file says
 * @param points the finished points of closed loops in the order of the plan
 * @param scenarios operations at a fixed rate, by client and phase
 * @param timelines what faults did to them, second by second
 * @param ratios clients beside the best of the official ones
 * @param zones what crossed zones
 * @param clients the clients behind points that several loaded together
 * @param fleets what many instances of an application occupy at the servers
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

  /** Results of closed loops, with nothing compared. */
  public Results(Envelope envelope, List<Point> points) {
    this(envelope, points, List.of(), List.of(), List.of(), List.of(), List.of(), List.of());
  }

  /** What a file left out is none. */
  public Results {
    points = points == null ? List.of() : List.copyOf(points);
    scenarios = scenarios == null ? List.of() : List.copyOf(scenarios);
    timelines = timelines == null ? List.of() : List.copyOf(timelines);
    ratios = ratios == null ? List.of() : List.copyOf(ratios);
    zones = zones == null ? List.of() : List.copyOf(zones);
    fleets = fleets == null ? List.of() : List.copyOf(fleets);
    clients = clients == null ? List.of() : List.copyOf(clients);
  }

  @Override
  public int finished() {
    int clients =
        timelines.stream().mapToInt(each -> each.lines().size()).sum()
            + zones.stream().mapToInt(each -> each.lines().size()).sum()
            + fleets.stream().mapToInt(each -> each.lines().size()).sum();
    return points.size() + entries(ScenarioEntry.RATE).size() + clients;
  }

  /** Operations that failed, over all points. Those at a fixed rate are counted apart. */
  public long errors() {
    return points.stream().mapToLong(Point::errors).sum();
  }

  /** Whether others took the processors' time while something was measured. */
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

  /** The operations that were measured anywhere, in YCSB's names. */
  public Set<String> operations() {
    Set<String> operations = new LinkedHashSet<>();
    points.forEach(point -> operations.addAll(point.latencies().byOperation().keySet()));
    return operations;
  }
}
