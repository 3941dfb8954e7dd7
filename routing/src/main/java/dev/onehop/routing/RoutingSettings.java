package dev.onehop.routing;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.watch.PreferredZones;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The router's own settings, beside those of the driver.
 *
 * @param refreshInterval how often routing tables and mongoses are read again
 * @param historyInterval how often the change history is looked at for moves; zero for never
 * @param measureRoundTrips whether round trips decide where names don't
 * @param routers per shard id the mongoses that the application maps to it
 * @param hostMapping from the names in the metadata to those that the application uses; null if
 *     these are the same
 * @param zones the zones that the application prefers
 */
record RoutingSettings(
    Duration refreshInterval,
    Duration historyInterval,
    boolean measureRoundTrips,
    Map<String, List<ServerAddressName>> routers,
    @Nullable UnaryOperator<ServerAddressName> hostMapping,
    PreferredZones zones,
    MeterRegistry meterRegistry,
    ObservationRegistry observationRegistry) {
  RoutingSettings {
    routers = Map.copyOf(routers);
  }
}
