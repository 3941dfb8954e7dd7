package dev.onehop.routing.transport;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.TransportSettings;
import dev.onehop.routing.internal.transport.Lanes;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.util.Objects;

/**
 * Keeps many requests in flight on few sockets, below the official driver: each connection of the
 * driver's pool becomes a lane, and short requests of all lanes share a few sockets per server.
 * With n threads and a round trip of R, throughput is then n/R, not sockets/R.
 *
 * <pre>{@code
 * try (PipelinedTransport transport = PipelinedTransport.create(settings)) {
 *   MongoClientSettings.Builder builder =
 *       MongoClientSettings.builder().applyConnectionString(uri);
 *   transport.applyTo(builder);
 *   MongoClient client = MongoClients.create(builder.build());
 *   ...
 * }
 * }</pre>
 *
 * <p>A server works through the requests of one socket one after the other, so a slow one holds up
 * those behind it. What may be slow therefore gets a socket of its own: aggregations and change
 * streams, cursors without a limit and their getMore, commits and aborts, writes to many documents,
 * writes that wait for members by number or tag, large messages, large {@code maxTimeMS}, and what
 * is not known to be short, acknowledged or not. Other writes may wait for their write concern, the
 * cluster's default included, and for locks: they share sockets among themselves, and no read comes
 * behind one. A socket whose oldest request is unusually slow gets no further ones until it
 * answers. The drivers' specification forbids pipelining for this head-of-line blocking: use it
 * where round trips dominate.
 *
 * <p>When a socket breaks, the requests on it fail with the driver's own network error; as on any
 * broken connection, whether they were carried out is not known. Credentials: SCRAM-SHA-1,
 * SCRAM-SHA-256 and MONGODB-X509 share sockets, which are opened by the driver's connections as
 * they authenticate (under the strict stable API, each of them opens one for as long as that
 * takes); connections of other mechanisms work, each with a socket of its own. Not for load
 * balancers ({@code loadBalanced=true}).
 *
 * <p>Thread-safe.
 */
public final class PipelinedTransport implements AutoCloseable {
  private static final int MAX_CONNECTING = 64;

  private final PipeliningSettings settings;
  private final Lanes lanes;

  private PipelinedTransport(PipeliningSettings settings, MeterRegistry registry) {
    this.settings = settings;
    this.lanes = new Lanes(settings, registry);
  }

  /** A transport whose meters go nowhere. */
  public static PipelinedTransport create(PipeliningSettings settings) {
    return create(settings, new CompositeMeterRegistry());
  }

  /**
   * A transport.
   *
   * @param registry where the {@link PipeliningMeters} are registered
   */
  public static PipelinedTransport create(PipeliningSettings settings, MeterRegistry registry) {
    return new PipelinedTransport(
        Objects.requireNonNull(settings, "settings"), Objects.requireNonNull(registry, "registry"));
  }

  /**
   * Settings for one client; each client gets its own, with one event loop thread that runs until
   * the transport is closed.
   *
   * <p>A client that uses these without {@link #applyTo} should set its pool's {@code maxSize} to
   * {@link PipeliningSettings#maxInFlight()} and {@code maxConnecting} to several dozen: lanes are
   * cheap, and there can't be more requests under way than lanes. With a larger pool, the transport
   * holds requests back by itself.
   *
   * @throws IllegalStateException if the transport is closed
   */
  public TransportSettings settings() {
    return TransportSettings.nettyBuilder()
        .eventLoopGroup(lanes.newGroup())
        .socketChannelClass(Lanes.channelClass())
        .build();
  }

  /**
   * Sets everything that a client needs: the transport, and a pool with a lane for each request
   * that may be under way.
   *
   * @throws IllegalArgumentException if the client is to go through a load balancer
   * @throws IllegalStateException if the transport is closed
   */
  public void applyTo(MongoClientSettings.Builder client) {
    MongoClientSettings asked = client.build();
    if (asked.getClusterSettings().getMode() == ClusterConnectionMode.LOAD_BALANCED) {
      throw new IllegalArgumentException(
          "loadBalanced=true cannot be pipelined: behind a load balancer each connection may lead"
              + " to another mongos, and cursors and transactions stay on theirs");
    }
    client
        .transportSettings(settings())
        .applyToConnectionPoolSettings(
            pool -> pool.maxSize(settings.maxInFlight()).maxConnecting(MAX_CONNECTING));
  }

  /** Stops the event loops. Clients that use them must be closed before. */
  @Override
  public void close() {
    lanes.close();
  }
}
