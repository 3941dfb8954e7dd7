package dev.onehop.cli;

import dev.onehop.measure.copying.ClusterPair;
import dev.onehop.measure.copying.CopyBenchPlan;
import dev.onehop.measure.copying.CopyTool;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Names;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The options for the data that a bench copies or compares, and for the tools that it measures in
 * comparison with OneHop.
 */
@HelpGroup("Data and tools")
final class CopyDataOptions {

  @Option(
      names = "--between",
      split = ",",
      paramLabel = "PAIR",
      description =
          "The pairs of source and destination, separated by commas: sharded (both are),"
              + " replica-set (both are), replica-set-to-sharded, sharded-to-replica-set. Default:"
              + " sharded,replica-set (--quick: sharded).")
  @Nullable List<String> pairs;

  @Option(
      names = "--records",
      paramLabel = "N",
      description = "The number of documents in all collections. Default: 300000 (--quick: 20000).")
  @Nullable Integer records;

  @Option(
      names = "--in",
      split = ",",
      paramLabel = "N",
      description =
          "How many collections the documents are split into. Several numbers are measured one"
              + " after the other. Default: 1,5 (--quick: 1).")
  @Nullable List<Integer> collections;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "The number of measurements of each tool. Default: 5 (--quick: 1).")
  @Nullable Integer rounds;

  @Option(
      names = "--rival",
      split = ",",
      paramLabel = "TOOL=PATH",
      description =
          "Another tool to measure in turns with OneHop, and the path of its program. The tool must"
              + " be installed as its documentation describes. It runs with its own defaults.")
  private Map<String, Path> rivals = new LinkedHashMap<>();

  @Option(
      names = "--quick",
      description = "Few and small copies: shows in two minutes that everything works.")
  boolean quick;

  @Mixin private ProgramOptions programs = new ProgramOptions();

  private List<ClusterPair> pairs() {
    return pairs != null
        ? pairs.stream().map(ClusterPair::named).distinct().toList()
        : quick
            ? List.of(ClusterPair.SHARDED)
            : List.of(ClusterPair.SHARDED, ClusterPair.REPLICA_SET);
  }

  /**
   * The plan of a bench with these data and tools.
   *
   * @param known the tools with which the bench can compare OneHop
   * @throws Failure if an option is out of range, or if the options name another tool or a program
   *     that does not exist
   */
  CopyBenchPlan plan(
      List<String> kinds,
      int changes,
      int rate,
      Duration time,
      @Nullable Double routerCpus,
      List<CopyTool> known) {
    programs.check();
    return new CopyBenchPlan(
        pairs(),
        kinds,
        new OptionRange("--records", 1_000, 100_000_000).value(records, quick ? 20_000 : 300_000),
        new OptionRange("--in", 1, 100).values(collections, quick ? List.of(1) : List.of(1, 5)),
        changes,
        rate,
        time,
        new OptionRange("--rounds", 1, 100).value(rounds, quick ? 1 : 5),
        quick,
        routerCpus,
        rivals(known),
        programs.mongod,
        programs.mongos);
  }

  /** The programs of the tools that are measured in comparison with OneHop. */
  private Map<CopyTool, Path> rivals(List<CopyTool> known) {
    Map<CopyTool, Path> found = new EnumMap<>(CopyTool.class);
    rivals.forEach(
        (name, path) -> {
          CopyTool tool = Names.find(name, known, CopyTool::label, "--rival takes %s, not '%s'");
          ProgramOptions.requireProgram("--rival " + name, path);
          found.put(tool, path);
        });
    return found;
  }
}
