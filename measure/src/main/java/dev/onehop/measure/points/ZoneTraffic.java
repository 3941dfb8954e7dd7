package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.Sampler;
import dev.onehop.measure.frame.Sampler.Sample;
import dev.onehop.measure.results.ShardLatencies;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.measure.results.ZonesResult;
import dev.onehop.measure.results.ZonesResult.Crossed;
import dev.onehop.measure.results.ZonesResult.Line;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.evidence.Traffic;
import dev.onehop.testbed.evidence.Traffic.Flow;
import dev.onehop.testbed.evidence.Traffic.Party;
import dev.onehop.testbed.topology.Host;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Operations of an application in a zone at a fixed rate. The bytes that cross from one zone to
 * another are counted during a part of the time.
 *
 * @param zone the zone of the application
 * @param reads whether all operations are reads of any member; false if half are reads and half are
 *     updates, on primaries
 * @param variant the client's configuration, in words
 * @param preferred whether the client has a preferred zone
 * @param options the options of the URL; empty, or with an ampersand at the start
 */
record ZoneTraffic(
    Warmup warmup,
    Arrivals arrivals,
    String zone,
    boolean reads,
    String variant,
    boolean preferred,
    String options)
    implements OpenLoop {

  private static final Duration FROM = Duration.ofSeconds(2);
  private static final Duration TO = Duration.ofSeconds(11);

  private static final Duration DURATION = Duration.ofSeconds(12);

  /** The time in which bytes are counted. */
  private static final double SECONDS = 9;

  private static final Duration MOST_CONNECTING = Duration.ofMinutes(2);
  private static final Duration DRAIN = Duration.ofSeconds(45);

  /**
   * Creates the traffic of a client.
   *
   * @param official whether the client is an official driver, which has no preferred zones
   * @param spares whether the client's configuration causes the least traffic across zones; false
   *     for its default configuration
   */
  static ZoneTraffic of(
      Warmup warmup, double rate, String zone, boolean reads, boolean official, boolean spares) {
    String variant =
        official
            ? (spares ? "localThresholdMS=0" : "defaults")
            : (spares ? "preferred zones" : "no zones");
    return new ZoneTraffic(
        warmup,
        new Arrivals(rate, false, DURATION),
        zone,
        reads,
        variant,
        spares && !official,
        (reads ? "&readPreference=nearest" : "")
            + (spares && official ? "&localThresholdMS=0" : ""));
  }

  @Override
  public String folder(PointCell cell) {
    return "points/zones-%s-%s-%s-%s"
        .formatted(
            zone, reads ? "reads" : "primaries", cell.mode(), variant.replaceAll("\\W+", "-"));
  }

  @Override
  public String title(PointCell cell) {
    return "%s, %s, %s in %s"
        .formatted(reads ? "reads" : "reads and updates", cell.mode(), variant, zone);
  }

  @Override
  public List<Record> measure(PointCell cell, YcsbClients clients)
      throws IOException, InterruptedException {
    BenchCluster cluster = clients.cluster();
    Path folder = clients.folder(cell.folder());
    YcsbArguments arguments =
        YcsbArguments.openLoop(cell, clients, folder, arrivals)
            .set("onehop.byshard", true)
            .set("mongodb.url", url(cluster))
            .set("readproportion", reads ? 1.0 : 0.5)
            .set("updateproportion", reads ? 0.0 : 0.5)
            .set("insertproportion", 0)
            .set("scanproportion", 0)
            .set("readmodifywriteproportion", 0);
    try (YcsbClients.Running running = clients.start(Map.of(folder, arguments));
        Sampler<Reading> sampler = Reading.start(cluster, running)) {
      // The client must be placed on its host before it connects. This call is early enough,
      // because the client's JVM needs more time to start.
      running.pids().forEach(pid -> cluster.testbed().place(pid, application(cluster.topology())));
      running.awaitBegin(warmup.most().plus(MOST_CONNECTING));
      running.sleepUntil(FROM);
      Traffic before = cluster.testbed().traffic();
      running.sleepUntil(TO);
      Traffic crossed = cluster.testbed().traffic().since(before);
      List<Sample<Reading>> samples = sampler.stop();
      YcsbOutput output = running.await(arrivals.duration().minus(TO).plus(DRAIN), true);
      return List.of(line(cell, folder, crossed, output, samples));
    }
  }

  /**
   * Returns the host of an application in the zone. It is the topology's client host if this host
   * is in the zone. Otherwise it is a host without a server, if there is one.
   */
  private String application(TopologyFacts topology) {
    return topology.hosts().stream()
        .filter(host -> host.region().equals(zone))
        .min(
            Comparator.comparing((HostFacts host) -> !host.name().equals(topology.client()))
                .thenComparing(host -> !host.roles().isEmpty()))
        .orElseThrow()
        .name();
  }

  /** Returns the URL with all mongoses, the options, and the preferred zones if there are any. */
  private String url(BenchCluster cluster) {
    String url = cluster.allRoutersUrl() + options;
    if (!preferred) {
      return url;
    }
    return cluster.testbed().topology().hosts().stream()
        .sorted(Comparator.comparing((Host host) -> !host.region().equals(zone))) // its zone first
        .collect(
            Collectors.groupingBy(
                Host::region,
                LinkedHashMap::new,
                Collectors.mapping(Host::address, Collectors.joining("|"))))
        .entrySet()
        .stream()
        .map(each -> each.getKey() + "=" + each.getValue())
        .collect(Collectors.joining(",", url + "&onehop.preferredZones=", ""));
  }

  private Line line(
      PointCell cell, Path folder, Traffic all, YcsbOutput output, List<Sample<Reading>> samples) {
    ShardLatencies.Phase phase =
        latencies(folder).phase(shard -> true, (int) FROM.toSeconds(), (int) TO.toSeconds());
    // The number of operations whose replies came while the bytes were counted, including late
    // replies.
    double operations = phase.perSecond() * SECONDS;
    if (operations == 0) {
      throw Failure.run("no operation had a reply; YCSB's output is in " + folder, null);
    }
    return new Line(
        zone,
        reads,
        cell.mode().label(),
        variant,
        preferred,
        Math.round(operations),
        output.errors(),
        phase.latency(),
        crossed(all, operations),
        Reading.cpuPerOperation(samples, RunSummary.of(folder)),
        cell.folder());
  }

  /** Returns all lines in the format of results. */
  ZonesResult result(List<Line> lines) {
    return new ZonesResult(arrivals.perSecond(), SECONDS, lines);
  }

  /** Returns the bytes per operation that crossed zones. */
  static Crossed crossed(Traffic traffic, double operations) {
    Predicate<Flow> client = flow -> flow.crosses() && flow.touches(Party.CLIENT);
    Predicate<Flow> withRouter = client.and(flow -> flow.touches(Party.ROUTER));
    Predicate<Flow> routers =
        flow -> flow.crosses() && flow.isOfOperations() && !flow.touches(Party.CLIENT);
    return new Crossed(
        traffic.sum(withRouter) / operations,
        traffic.sum(client.and(withRouter.negate())) / operations,
        traffic.sum(routers) / operations,
        traffic.sum(flow -> flow.crosses() && !flow.isOfOperations()) / operations);
  }
}
