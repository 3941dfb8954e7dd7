package dev.onehop.measure.report;

import dev.onehop.measure.report.Section.Medium;
import dev.onehop.measure.results.MachineFacts;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.RunResults;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The facts of a run about hosts, servers and machine, the same on every page. */
final class Facts {

  private Facts() {}

  /** Returns the section of the hosts with their round trips. */
  static Section topology(TopologyFacts topology) {
    Section section = new Section("topology", "Topology " + topology.name(), Medium.PAGE);
    section.table(
        new Columns<>("Hosts", topology.hosts())
            .text("host", HostFacts::name)
            .text("region", HostFacts::region)
            .text("runs", host -> String.join(", ", host.roles()))
            .of(
                "round trip from client, configured (ms)",
                Format::ofMillis,
                host -> topology.configured(topology.client(), host.name()))
            .of(
                "measured (ms)",
                Format::ofMillis,
                host -> topology.measuredFromClient(host.name())));
    if (topology.regions().size() > 1) {
      Columns<String> trips =
          new Columns<>(
                  "Round trips between hosts of these regions, configured (ms)", topology.regions())
              .text("region", region -> region);
      topology
          .regions()
          .forEach(to -> trips.of(to, Format::ofMillis, from -> roundTrip(topology, from, to)));
      section.table(trips);
    }
    return section;
  }

  private static @Nullable Double roundTrip(TopologyFacts topology, String from, String to) {
    return topology.hosts().stream()
        .filter(host -> host.region().equals(from))
        .flatMap(
            host ->
                topology.hosts().stream()
                    .filter(other -> other.region().equals(to) && !other.equals(host))
                    .map(other -> topology.configured(host.name(), other.name())))
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  /** Returns names and values of facts about servers, machine and run. */
  static Map<String, String> of(RunResults results) {
    Map<String, String> facts = new LinkedHashMap<>();
    ServerFacts server = results.server();
    facts.put("mongod", server.mongod());
    facts.put("feature compatibility", server.featureCompatibilityVersion());
    facts.put("routers", Sheet.routers(server));
    MachineFacts machine = results.machine();
    if (machine != null) {
      facts.put("processor", machine.cpu() + ", " + machine.cores() + " cores");
      facts.put("memory", Format.whole(machine.memoryMebibytes()) + " MiB");
      facts.put("system", machine.os());
      facts.put("Java", machine.java());
      facts.put("MongoDB Java driver", machine.mongoDriver());
      facts.put("YCSB", machine.ycsb());
      facts.put(
          "OneHop",
          machine.onehop() + (machine.revision().isEmpty() ? "" : " (" + machine.revision() + ")"));
    }
    RunFacts run = results.run();
    if (run != null) {
      facts.put("started", run.started());
      facts.put("workload", run.load().workload());
      facts.put("documents", Format.whole(run.load().records()));
      facts.put(
          "properties",
          run.load().properties().isEmpty() ? "" : run.load().properties().toString());
    }
    facts
        .values()
        .removeIf(value -> value == null || value.isEmpty() || value.equals(ServerFacts.UNKNOWN));
    return facts;
  }
}
