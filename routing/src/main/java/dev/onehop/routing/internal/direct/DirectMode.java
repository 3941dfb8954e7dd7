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

/** Makes the clients of direct mode. */
public final class DirectMode {
  private DirectMode() {}

  /**
   * Direct mode's own settings, beside those of the driver.
   *
   * @param refreshInterval how often the shards and the default concerns are read again
   * @param hostMapping from the cluster's names to those that the application uses; null if these
   *     are the same
   * @param zones that the application prefers
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
   * Connects in the background, like the official client.
   *
   * @param reach of the cluster's mongoses or config servers, which are the seeds
   * @param versions what commands carry; without versions only to show what they are good for
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
            // More than that for real servers, whose failure to be found is to be told.
            virtual ->
                virtual.applyToClusterSettings(
                    cluster ->
                        cluster.serverSelectionTimeout(
                            selectionTimeoutMillis(settings), TimeUnit.MILLISECONDS)));
    return new RouterClients(router, reach, face, options.commands());
  }

  private static long selectionTimeoutMillis(MongoClientSettings settings) {
    long asked = settings.getClusterSettings().getServerSelectionTimeout(TimeUnit.MILLISECONDS);
    return asked < 0 ? asked : asked + 2 * VirtualMongos.START_TIMEOUT.toMillis();
  }
}
