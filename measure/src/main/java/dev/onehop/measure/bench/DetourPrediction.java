package dev.onehop.measure.bench;

import dev.onehop.measure.results.Detour;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Predicts by how far an operation goes astray when it takes the nearest router instead of the one
 * beside its owner, and sets what was measured beside it.
 */
final class DetourPrediction {

  /**
   * The drivers' default {@code localThresholdMS}: routers whose round trip is within this of the
   * nearest one's are chosen from at random.
   */
  private static final double LATENCY_WINDOW_MILLIS = 15;

  private DetourPrediction() {}

  /**
   * The detour of a run.
   *
   * @param shardHosts the host of each shard's primary
   * @return null if a router stands on the client's host or the topology says too little
   */
  static @Nullable Detour of(
      TopologyFacts topology, Map<String, String> shardHosts, List<Point> points) {
    List<String> routers = nearRouters(topology);
    if (routers.isEmpty() || routers.contains(topology.client())) {
      return null;
    }
    Map<String, Double> perShard = new TreeMap<>();
    shardHosts.forEach(
        (shard, host) ->
            perShard.put(
                shard,
                routers.stream()
                    .mapToDouble(router -> detourMillis(topology, router, host))
                    .average()
                    .orElse(0)));
    Optional<Point> async = first(points, Mode.ASYNC);
    Optional<Point> targeted =
        async.flatMap(
            a ->
                points.stream()
                    .filter(p -> p.mode().equals(Mode.TARGETED_ASYNC.label()))
                    .filter(p -> p.threads() == a.threads())
                    .findFirst());
    Double measured = null;
    if (async.isPresent() && targeted.isPresent()) {
      Double through = aboveRoundTripMillis(async.get());
      Double beside = aboveRoundTripMillis(targeted.get());
      measured = through == null || beside == null ? null : through - beside;
    }
    Map<String, Double> share = async.map(Point::share).orElse(Map.of());
    Double predicted = ClosedLoop.meanRoundTripMillis(share, perShard);
    if (predicted == null) {
      predicted = perShard.values().stream().mapToDouble(d -> d).average().orElse(0);
    }
    return new Detour(
        perShard, predicted, measured, measured == null ? null : async.get().threads());
  }

  /** A point's mean latency above the straight way to the shards that its operations went to. */
  private static @Nullable Double aboveRoundTripMillis(Point point) {
    Double micros = point.meanLatency();
    Double roundTrip = point.meanRoundTripMillis();
    return micros == null || roundTrip == null ? null : micros / 1000 - roundTrip;
  }

  private static Optional<Point> first(List<Point> points, Mode mode) {
    return points.stream()
        .filter(point -> point.mode().equals(mode.label()))
        .min(java.util.Comparator.comparingInt(Point::threads));
  }

  /** The hosts whose routers a driver at the client would choose from. */
  private static List<String> nearRouters(TopologyFacts topology) {
    List<String> routers =
        topology.hosts().stream()
            .filter(host -> host.roles().contains("router"))
            .map(HostFacts::name)
            .toList();
    double nearest =
        routers.stream().mapToDouble(host -> fromClient(topology, host)).min().orElse(0);
    return routers.stream()
        .filter(host -> fromClient(topology, host) <= nearest + LATENCY_WINDOW_MILLIS)
        .filter(host -> !routers.contains(topology.client()) || host.equals(topology.client()))
        .toList();
  }

  private static double detourMillis(TopologyFacts topology, String router, String shardHost) {
    Double onwards = topology.configured(router, shardHost);
    return fromClient(topology, router)
        + (onwards == null ? 0 : onwards)
        - fromClient(topology, shardHost);
  }

  private static double fromClient(TopologyFacts topology, String host) {
    Double configured = topology.configured(topology.client(), host);
    return host.equals(topology.client()) || configured == null ? 0 : configured;
  }
}
