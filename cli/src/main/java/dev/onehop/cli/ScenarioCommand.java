package dev.onehop.cli;

import dev.onehop.measure.points.Mode;
import dev.onehop.measure.points.PointsPlan;
import dev.onehop.measure.points.Scenario;
import dev.onehop.measure.points.Workload;
import dev.onehop.testbed.topology.Topology;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code onehop bench scenario}. */
@Command(
    name = "scenario",
    header = "Measure operations at a fixed rate during a fault of the cluster.",
    description =
        "Each client has the driver's default pool of 100 connections. Routed clients also run"
            + " pipelined over 5 sockets. With --url, the cluster must be one that topology up has"
            + " started on this machine.",
    footer = {
      "Examples:",
      "  onehop bench scenario shard-freeze",
      "  onehop bench scenario router-kill --rate 200 --modes async,targeted-async",
      "  onehop bench scenario fleet --clients 50"
    })
final class ScenarioCommand extends LoadCommand {

  /**
   * The operations per second of all instances together: each of the 50 instances issues 100
   * operations every 10 seconds, all at once.
   */
  private static final double FLEET_RATE = 500;

  private static final int FLEET_CLIENTS = 50;
  private static final String FLEET = "fleet";
  private static final List<Mode> FLEET_MODES =
      List.of(Mode.ASYNC, Mode.TARGETED_ASYNC, Mode.DIRECT_ASYNC);

  @Mixin ArrivalOptions arrivals = new ArrivalOptions();

  @Parameters(
      paramLabel = "NAME",
      description =
          "shard-freeze: one shard's server stops for 8 of 25 seconds;%nshard-slow: the round trip"
              + " to one shard's server is 200 ms longer;%nrouter-freeze: the nearest mongos"
              + " stops;%nrouter-loss: the nearest mongos is cut off;%nrouter-kill: the nearest"
              + " mongos is killed, and started again;%nfleet: no fault; measures how many sockets"
              + " and how much memory the servers need for many instances of an application.%nIn"
              + " the router scenarios, the clients' URL names all mongoses.")
  String name;

  @Option(
      names = "--rate",
      paramLabel = "R",
      description = "Operations per second. Default: 300 (fleet: 500).")
  @Nullable Double rate;

  @Option(
      names = "--clients",
      paramLabel = "N",
      description = "With fleet: the number of instances of the application. Default: 50.")
  @Nullable Integer clients;

  @Override
  PointsPlan plan(Workload workload, @Nullable Topology topology) {
    boolean fleet = name.equals(FLEET);
    double perSecond = rate == null ? (fleet ? FLEET_RATE : DEFAULT_RATE) : rate;
    ArrivalOptions.check(perSecond);
    PointsPlan plan = PointsPlan.of(load.properties, 1, 0);
    if (fleet) {
      return fleet(plan, workload, perSecond, topology);
    }
    Scenario scenario = Scenario.named(name);
    Refuse.when(clients != null, "--clients requires the scenario fleet");
    where.requireControl("the scenario " + name);
    Refuse.when(
        topology == null && !scenario.isFreeze(),
        "with --url, only shard-freeze and router-freeze are possible");
    Refuse.when(
        topology != null && scenario.ofShard() && topology.shards().size() < 2,
        "the scenario " + name + " needs a topology of two shards or more");
    Refuse.when(
        topology != null && !scenario.ofShard() && topology.mongosHosts().size() < 2,
        "the scenario " + name + " needs a topology of two mongoses or more");
    return plan.fault(
        scenario,
        load.modes(quick ? FLEET_MODES : Mode.all(), where, topology),
        perSecond,
        arrivals.isPoisson(),
        load.warmup(),
        quick);
  }

  private PointsPlan fleet(
      PointsPlan plan, Workload workload, double perSecond, @Nullable Topology topology) {
    Refuse.when(topology == null, "the scenario fleet and --url exclude each other");
    workload.requireSharable();
    List<Mode> modes = load.modes(FLEET_MODES, where, topology);
    for (Mode mode : modes) {
      Refuse.when(
          !mode.canPipeline(),
          "the scenario fleet: " + mode + " needs a thread for each operation; use async modes");
    }
    int instances = clients == null ? FLEET_CLIENTS : PointsCommand.checkClients(clients);
    return plan.fleet(modes, instances, perSecond, arrivals.isPoisson(), load.warmup());
  }
}
