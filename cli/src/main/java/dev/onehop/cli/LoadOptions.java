package dev.onehop.cli;

import dev.onehop.measure.points.Mode;
import dev.onehop.measure.points.Warmup;
import dev.onehop.measure.points.Workload;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.topology.Topology;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the measured clients and their workload. */
final class LoadOptions {

  @Option(
      names = "--modes",
      split = ",",
      paramLabel = "MODE",
      description = {
        "Clients to measure.%nThe official drivers: legacy (synchronous), async"
            + " (reactive).%nOneHop: targeted-async, targeted-sync, direct-async,"
            + " direct-sync.%nDefault: legacy, async, targeted-async, direct-async.",
        "More modes for comparison, which exclude --url:%nnear-mongos: like async, with a server"
            + " selector for the mongos with the shortest round trip;%nlocal-threshold-0: like"
            + " async, with localThresholdMS=0;%npipelined-only: like async, pipelined, without"
            + " routing;%nstraight: like legacy and async, but each operation goes to the mongod of"
            + " its shard. This mode shows the most that routing can reach, and ignores"
            + " migrations.%nIf you name only modes for comparison, the default modes run, too."
      })
  @Nullable List<String> modes;

  @Option(
      names = "--workload",
      paramLabel = "FILE",
      description = "A YCSB workload file. Default: workloada (half reads, half updates).")
  @Nullable Path workload;

  @Option(
      names = "-p",
      paramLabel = "KEY=VALUE",
      description =
          "A YCSB property, such as recordcount=N; overrides the workload file. May be repeated.")
  Map<String, String> properties = new LinkedHashMap<>();

  @Option(names = "--records", hidden = true, paramLabel = "N", description = "-p recordcount.")
  @Nullable Long records;

  @Option(
      names = "--warmup",
      hidden = true,
      paramLabel = "TIME",
      description = "How long operations run before each point; they are not measured.")
  @Nullable Duration warmup;

  @Option(
      names = "--seed",
      hidden = true,
      paramLabel = "N",
      description =
          "The seed of the random order of the points. Default: a new seed, which is printed.")
  @Nullable Long seed;

  /**
   * The modes that the user has named. If all of these modes serve only for comparison, the default
   * modes are added, too.
   *
   * @param usual the default modes
   * @throws Failure if there is no such mode, or the topology or cluster does not support it
   */
  List<Mode> modes(List<Mode> usual, ClusterOptions where, @Nullable Topology topology) {
    Refuse.when(
        modes != null && (modes.isEmpty() || names().contains("")), "--modes has an empty name");
    List<Mode> chosen = Mode.named(names(), usual);
    for (Mode mode : chosen) {
      Refuse.when(
          mode.isPeer() && where.url != null,
          "--modes " + mode.option() + " and --url exclude each other");
      Refuse.when(
          mode.knowsAllRouters() && topology != null && topology.mongosHosts().size() < 2,
          "--modes " + mode + " needs a topology of several mongoses");
      Refuse.when(
          mode.knowsAllRouters() && where.servers.existing,
          "--modes " + mode + " and --existing exclude each other");
    }
    return chosen;
  }

  /** The given names, if any. */
  List<String> names() {
    return modes == null ? List.of() : modes.stream().map(String::strip).toList();
  }

  /**
   * The workload with the requested number of records.
   *
   * @param usualRecords the default number
   * @throws Failure if the file can't be read or its properties are invalid
   */
  Workload workload(long usualRecords) {
    Path file = workload == null ? InstallationFolder.path("workloads/workloada") : workload;
    Workload read = Workload.load(file, properties);
    if (records != null) {
      Refuse.when(
          properties.containsKey("recordcount"), "--records and -p recordcount exclude each other");
      return read.withRecords(MeasuringCommand.atLeastOne("--records", records));
    }
    boolean ownCount = workload != null || properties.containsKey("recordcount");
    boolean counts = ownCount && read.properties().containsKey("recordcount");
    return read.withRecords(counts ? read.records() : usualRecords);
  }

  /** The requested warm-up, or the default. */
  Warmup warmup(Warmup usual) {
    return warmup == null ? usual : Warmup.of(warmup);
  }

  /** The requested warm-up; null if none is given. */
  @Nullable Warmup warmup() {
    return warmup == null ? null : Warmup.of(warmup);
  }

  /**
   * The seed of the random order of the points.
   *
   * @param run the name of a run of several benches, which all use the same order; null for a
   *     single bench
   */
  long seed(@Nullable String run) {
    if (seed != null) {
      return seed;
    }
    return run == null ? ThreadLocalRandom.current().nextInt(1_000_000) : run.hashCode();
  }
}
