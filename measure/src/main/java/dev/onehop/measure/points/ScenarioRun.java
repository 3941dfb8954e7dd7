package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.results.FleetResult;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.Timeline;
import dev.onehop.measure.results.ZonesResult;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A scenario that is run, one client after the other. */
interface ScenarioRun {

  /** The scenario that a plan asks for. */
  static ScenarioRun of(
      ScenarioPlan plan, List<Mode> modes, int clients, BenchCluster cluster, Surroundings around) {
    return switch (plan.scenario()) {
      case ZONES -> new ZonesRunner(plan, modes, cluster, around);
      case FLEET -> new FleetRunner(plan, modes, clients, cluster, around);
      default -> new ScenarioRunner(plan, modes, cluster, around);
    };
  }

  /**
   * What all runs share.
   *
   * @param ycsb makes the commands
   * @param runner runs them
   * @param out the results' folder
   */
  record Surroundings(YcsbCommand ycsb, YcsbRunner runner, Path out) {}

  /** The clients in the order they run, for a person. */
  List<String> titles();

  /**
   * Runs one client.
   *
   * @param index in {@link #titles}
   */
  void run(int index) throws IOException, InterruptedException;

  /** Adds what was found so far. Callable from any thread. */
  void addTo(Findings findings);

  /** What scenarios find, for {@link dev.onehop.measure.results.Results}. */
  final class Findings {
    final List<ScenarioEntry> entries = new ArrayList<>();
    final List<Timeline> timelines = new ArrayList<>();
    final List<ZonesResult> zones = new ArrayList<>();
    final List<FleetResult> fleets = new ArrayList<>();
  }

  /** How long one client takes. */
  static Duration estimate(ScenarioPlan plan) {
    return plan.warmup().plus(plan.duration()).plusSeconds(5);
  }
}
