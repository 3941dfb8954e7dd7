package dev.onehop.measure.report;

import dev.onehop.measure.report.Section.Medium;
import dev.onehop.measure.results.FleetResult;
import dev.onehop.measure.results.FleetResult.Line;
import dev.onehop.measure.results.FleetResult.Server;
import java.util.Optional;

/** The section about many instances of an application and their resource use at the servers. */
record FleetSection(FleetResult fleet) {

  void addTo(Sheet sheet) {
    Optional<Line> official =
        fleet.lines().stream().filter(line -> line.client().mode().equals("async")).findFirst();
    Optional<Line> routed =
        fleet.lines().stream()
            .filter(
                line -> line.client().pipelining() && line.client().mode().equals("targeted-async"))
            .findFirst();
    if (official.isPresent() && routed.isPresent()) {
      compare(sheet, official.get(), routed.get());
    } else {
      sheet.say(conditions());
    }
    sheet.add(
        new Section("fleet", "Scenario fleet")
            .say(
                conditions(),
                "The clients with few sockets ran first, because a server keeps the memory that it"
                    + " has used.")
            .table(table()));
    Section servers = new Section("fleet-servers", "Scenario fleet by server", Medium.PAGE);
    fleet.lines().forEach(line -> servers.table(servers(line)));
    sheet.add(servers);
  }

  private String conditions() {
    return ("%d instances of an application run in %d processes. Together they issue %s operations"
            + " a second for %d seconds. The instances take turns: each issues %d operations at"
            + " once.")
        .formatted(
            fleet.clients(),
            fleet.processes(),
            Format.rate(fleet.rate()),
            fleet.seconds(),
            fleet.burst());
  }

  private void compare(Sheet sheet, Line official, Line routed) {
    int many = official.peakSocketsOfOne(true);
    int few = routed.peakSocketsOfOne(true);
    sheet.say(
        ("With %d instances of an application, the busiest mongos had %d sockets with %s. This is"
                + " %s times the %d sockets with %s. In the same order, all mongoses together had"
                + " %d and %d sockets, and the clients did %s and %s operations a second.")
            .formatted(
                fleet.clients(),
                many,
                official.client().name(),
                Format.decimal((double) many / Math.max(1, few)),
                few,
                routed.client().name(),
                official.peakSockets(true),
                routed.peakSockets(true),
                Format.rate(official.perSecond()),
                Format.rate(routed.perSecond())));
    sheet.figure(
        Format.counted(few, "socket"),
        "at the busiest mongos, with " + routed.client().label(),
        Format.whole(many) + " with " + official.client().label());
  }

  private Columns<Line> table() {
    return new Columns<>("Resource use of many instances", fleet.lines())
        .text("client", line -> line.client().name())
        .of("conns", Format::whole, line -> line.client().connections())
        .of("done/s", Format::rate, Line::perSecond)
        .latencies("", Line::latency, "p50", "p99")
        .means("ms from the time at which the operation was due")
        .of("failed", Format::whole, Line::errors)
        .of("sockets, busiest mongos", Format::whole, line -> line.peakSocketsOfOne(true))
        .means("the largest number at one time, including sockets of other servers")
        .of("all mongos", Format::whole, line -> line.peakSockets(true))
        .of("busiest mongod", Format::whole, line -> line.peakSocketsOfOne(false))
        .of("all mongod", Format::whole, line -> line.peakSockets(false))
        .of("grown MiB, mongos", Format::mebibytes, line -> line.grownBytes(true))
        .means("memory (RSS) at the peak minus memory before the clients started")
        .of("mongod", Format::mebibytes, line -> line.grownBytes(false));
  }

  private static Columns<Server> servers(Line line) {
    return new Columns<>("Servers with " + line.client().label(), line.servers())
        .text("server", Server::server)
        .text("host", Server::host)
        .text("what", server -> server.router() ? "mongos" : "mongod")
        .of("sockets at rest", Format::whole, server -> server.rest().sockets())
        .of("at load", Format::whole, server -> server.load().sockets())
        .of("peak", Format::whole, server -> server.peak().sockets())
        .of("MiB at rest", Format::mebibytes, server -> server.rest().memoryBytes())
        .of("at load", Format::mebibytes, server -> server.load().memoryBytes())
        .of("peak", Format::mebibytes, server -> server.peak().memoryBytes());
  }
}
