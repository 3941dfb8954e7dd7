package dev.onehop.routing.internal.wire;

import io.netty.channel.EventLoopGroup;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Connections to any number of servers, one request at a time on each: a request takes an idle
 * connection or opens a new one, as a mongos does towards its shards. The caller bounds how many
 * requests are under way, and so the number of connections.
 *
 * <p>Thread-safe.
 */
public final class WirePool implements AutoCloseable {
  private static final int CONNECT_TIMEOUT_MILLIS = 5_000;

  private final EventLoopGroup group;
  private final @Nullable SocketAddress localAddress;
  private final Map<ServerAddressName, Deque<WireConnection>> idle = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /**
   * @param group event loops of the connections; stays the caller's
   * @param localAddress the address to connect from (port 0), null for the system's choice
   */
  public WirePool(EventLoopGroup group, @Nullable SocketAddress localAddress) {
    this.group = group;
    this.localAddress = localAddress;
  }

  /**
   * Sends a request and gives its answer.
   *
   * @return the reply, empty if the request expects none; an {@link java.io.IOException} if the
   *     server can't be reached or the connection breaks
   */
  public Mono<OpMsg> send(ServerAddressName server, OpMsg request) {
    return Mono.defer(
        () -> {
          WireConnection ready = takeIdle(server);
          Mono<WireConnection> connection =
              ready != null
                  ? Mono.just(ready)
                  : WireConnection.open(group, server, localAddress, CONNECT_TIMEOUT_MILLIS);
          return connection.flatMap(
              open ->
                  open.send(request)
                      .doOnSuccess(reply -> giveBack(server, open))
                      .doOnError(failure -> open.close())
                      // The answer is still to come, so nobody else may use the connection.
                      .doOnCancel(open::close));
        });
  }

  private @Nullable WireConnection takeIdle(ServerAddressName server) {
    Deque<WireConnection> connections = idle.get(server);
    if (connections == null) {
      return null;
    }
    for (WireConnection next = connections.pollFirst();
        next != null;
        next = connections.pollFirst()) {
      if (next.isOpen()) {
        return next;
      }
    }
    return null;
  }

  private void giveBack(ServerAddressName server, WireConnection connection) {
    if (connection.isOpen()) {
      idle.computeIfAbsent(server, name -> new ConcurrentLinkedDeque<>()).addFirst(connection);
    }
    if (closed) {
      close();
    }
  }

  /** Closes the idle connections now, the others when their request is answered. */
  @Override
  public void close() {
    closed = true;
    List<Deque<WireConnection>> all = new ArrayList<>(idle.values());
    for (Deque<WireConnection> connections : all) {
      for (WireConnection next = connections.pollFirst();
          next != null;
          next = connections.pollFirst()) {
        next.close();
      }
    }
  }
}
