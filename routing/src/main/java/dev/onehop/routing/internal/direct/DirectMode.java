package dev.onehop.routing.internal.direct;

import com.mongodb.MongoClientSettings;
import dev.onehop.routing.internal.metrics.CommandMeter;
import dev.onehop.routing.internal.metrics.TableMetrics;
import dev.onehop.routing.internal.router.RouterClients;
import dev.onehop.routing.internal.router.VirtualMongos;
import dev.onehop.shards.cluster.DriverRetries;
import dev.onehop.shards.cluster.Versions;
import dev.onehop.shards.command.ClusterState;
import dev.onehop.shards.command.Refreshes;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.driver.Reach;
import dev.onehop.wire.watch.PreferredZones;
import dev.onehop.wire.watch.Servers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Creates the clients of direct mode. */
public final class DirectMode {
  private DirectMode() {}

  /**
   * Direct mode's own settings, in addition to the driver's settings.
   *
   * @param refreshInterval the interval of refreshes of the shards and the default concerns
   * @param hostMapping maps the names in the metadata to the names that the application uses; null
   *     if they are the same
   * @param zones the zones that the application prefers
   * @param tables measures routing tables
   * @param commands measures commands
   */
  public record Options(
      Duration refreshInterval,
      @Nullable UnaryOperator<ServerAddressName> hostMapping,
      PreferredZones zones,
      TableMetrics tables,
      CommandMeter commands) {}

  /**
   * Creates a router that connects in the background, like the official client.
   *
   * @param reach the settings and connections of the cluster; its seeds are mongoses or config
   *     servers
   * @param versions adds shard versions to commands. Only tests pass an object that adds no
   *     versions, to show why they are needed
   * @param options direct mode's own settings
   */
  public static RouterClients create(Reach reach, Versions versions, Options options) {
    MongoClientSettings settings = reach.asked();
    DirectRouter router =
        new DirectRouter(
            new ClusterState(
                Servers.of(
                    reach.watching(), options.hostMapping(), options.zones(), reach.connections()),
                Servers.replicaSets(
                    reach.watching(), options.hostMapping(), options.zones(), reach.connections()),
                reach.connections(),
                new Refreshes(options.refreshInterval(), options.tables()),
                versions,
                new DriverRetries(settings.getRetryReads(), true),
                true));
    options.tables().agesFrom(router::tableAge);
    RouterClients.Face face =
        new RouterClients.Face(
            new DirectIdentity(router),
            false,
            // Longer than the timeout for real servers, so that their error reaches the
            // application.
            virtual ->
                virtual.applyToClusterSettings(
                    cluster ->
                        cluster.serverSelectionTimeout(
                            selectionTimeoutMillis(settings), TimeUnit.MILLISECONDS)));
    return new RouterClients(router, reach, face, options.commands());
  }

  private static long selectionTimeoutMillis(MongoClientSettings settings) {
    long millis = settings.getClusterSettings().getServerSelectionTimeout(TimeUnit.MILLISECONDS);
    return millis < 0 ? millis : millis + 2 * VirtualMongos.START_TIMEOUT.toMillis();
  }
}
