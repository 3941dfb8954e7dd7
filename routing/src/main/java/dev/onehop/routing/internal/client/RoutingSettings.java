package dev.onehop.routing.internal.client;

import dev.onehop.routing.internal.affinity.ClusterWatch;
import dev.onehop.routing.internal.wire.ServerAddressName;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * What a routed client is told beside the driver's own settings.
 *
 * @param refreshInterval how often routing tables and mongoses are read again
 * @param historyInterval how often the change history is looked at for moves; zero for never
 * @param measureRoundTrips whether round trips decide where names don't
 * @param routers per shard id the mongoses that the application maps to it
 * @param directConnection whether the URI asks for one server only, so that nothing is routed
 * @param hostMapping from the names in the metadata to those that the application uses
 */
public record RoutingSettings(
    Duration refreshInterval,
    Duration historyInterval,
    boolean measureRoundTrips,
    Map<String, List<ServerAddressName>> routers,
    boolean directConnection,
    UnaryOperator<ServerAddressName> hostMapping,
    MeterRegistry meterRegistry,
    ObservationRegistry observationRegistry) {
  public RoutingSettings {
    routers = Map.copyOf(routers);
  }

  /** What is for the watch over the cluster. */
  public ClusterWatch.Settings watching() {
    return new ClusterWatch.Settings(
        refreshInterval, historyInterval, measureRoundTrips, routers, hostMapping);
  }
}
