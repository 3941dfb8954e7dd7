package dev.onehop.cli.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Everything a bench run found: the content of {@code results.json}.
 *
 * @param run how the run was made
 * @param topology where things stood
 * @param server which servers ran
 * @param machine which machine and software it ran on
 * @param detour what targeting saves in distance; null where a router stands on the client's host
 * @param points the finished points in the order they ran
 * @param scenarios what faults did to operations at a fixed rate
 */
public record Results(
    @Nullable RunFacts run,
    TopologyFacts topology,
    ServerFacts server,
    @Nullable MachineFacts machine,
    @JsonInclude(Include.NON_NULL) @Nullable Detour detour,
    List<Point> points,
    @JsonInclude(Include.NON_EMPTY) List<ScenarioResult> scenarios) {

  /** Results without a scenario. */
  public Results(
      @Nullable RunFacts run,
      TopologyFacts topology,
      ServerFacts server,
      @Nullable MachineFacts machine,
      @Nullable Detour detour,
      List<Point> points) {
    this(run, topology, server, machine, detour, points, List.of());
  }

  /** Points that a file left out are none. */
  public Results {
    points = points == null ? List.of() : List.copyOf(points);
    scenarios = scenarios == null ? List.of() : List.copyOf(scenarios);
  }

  /** Operations that failed, over all points. */
  public long errors() {
    return points.stream().mapToLong(Point::errors).sum();
  }

  /** The shards that served operations, sorted. */
  public List<String> shards() {
    return points.stream().flatMap(p -> p.share().keySet().stream()).distinct().sorted().toList();
  }

  /** The operations that were measured anywhere, in YCSB's names. */
  public Set<String> operations() {
    Set<String> operations = new LinkedHashSet<>();
    points.forEach(point -> operations.addAll(point.latencies().keySet()));
    return operations;
  }
}
