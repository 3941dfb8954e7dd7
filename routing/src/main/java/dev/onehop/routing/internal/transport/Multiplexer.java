package dev.onehop.routing.internal.transport;

import dev.onehop.routing.transport.PipeliningSettings;
import io.netty.buffer.ByteBufAllocator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All lanes and sockets of one client, by server.
 *
 * <p>Confined to one event loop: nothing here locks, and no request changes threads on its way.
 */
final class Multiplexer {
  private static final Logger log = LoggerFactory.getLogger(Multiplexer.class);

  private final PipeliningSettings settings;
  private final SharingRules rules;
  private final SocketOpener opener;
  private final LongSupplier nanoTime;
  private final ByteBufAllocator allocator;
  private final Function<String, ServerMeters> meters;
  private final Map<ServerKey, ServerSockets> servers = new HashMap<>();

  /**
   * @param nanoTime the clock
   * @param allocator for replies
   * @param meters of a server by its name
   */
  Multiplexer(
      PipeliningSettings settings,
      SocketOpener opener,
      LongSupplier nanoTime,
      ByteBufAllocator allocator,
      Function<String, ServerMeters> meters) {
    this.settings = settings;
    this.rules = new SharingRules(settings);
    this.opener = opener;
    this.nanoTime = nanoTime;
    this.allocator = allocator;
    this.meters = meters;
  }

  /** A new lane to a server; its end is told which one, and when it is connected. */
  void connect(ServerKey key, LaneOptions options, LaneEnd end) {
    servers.computeIfAbsent(key, k -> new ServerSockets(k, this)).connect(options, end);
  }

  /** Looks for what time alone brings about. To be called a few times per second. */
  void sweep() {
    long now = now();
    for (ServerSockets server : List.copyOf(servers.values())) {
      try {
        server.sweep(now);
      } catch (RuntimeException e) {
        // It would be the last time that anybody looks.
        log.warn("Looking after the sockets to {} failed", server.name(), e);
      }
    }
  }

  void forget(ServerKey key) {
    servers.remove(key);
  }

  PipeliningSettings settings() {
    return settings;
  }

  SharingRules rules() {
    return rules;
  }

  SocketOpener opener() {
    return opener;
  }

  ServerMeters meters(String server) {
    return meters.apply(server);
  }

  ByteBufAllocator allocator() {
    return allocator;
  }

  long now() {
    return nanoTime.getAsLong();
  }

  /** For tests: how many sockets are open. */
  int sockets() {
    return servers.values().stream().mapToInt(ServerSockets::sockets).sum();
  }
}
