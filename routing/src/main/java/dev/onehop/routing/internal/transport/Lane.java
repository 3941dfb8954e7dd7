package dev.onehop.routing.internal.transport;

import io.netty.buffer.ByteBuf;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * One connection in the driver's eyes. It has at most one request that is not answered yet.
 *
 * <p>Confined to one event loop, as is everything that it touches.
 */
final class Lane {
  final LaneEnd end;
  final ServerSockets server;
  private final LaneOptions options;
  private @Nullable SSLEngine engine;
  private boolean closed;

  /** The lanes of the same identity, known after the first hello. */
  @Nullable SocketPool pool;

  /** The first hello, whole: it opens further sockets where that is enough. */
  @Nullable HelloMessage hello;

  /** Where everything of this lane goes, until it is authenticated or for good. */
  @Nullable WireSocket pinned;

  /** Whether {@link #pinned} holds until the lane is closed. */
  boolean pinnedForGood;

  /** The socket that this lane's first hello opened. */
  @Nullable WireSocket founded;

  /** The shared socket on which this lane is authenticating. */
  @Nullable WireSocket conversation;

  /** Whether it has proven who it is, which only a server can tell. */
  boolean authenticated;

  /** What waits or is under way. */
  @Nullable Request current;

  /** Where its last request without a reply went, null if it is known to be done. */
  @Nullable WireSocket trail;

  /** Up to which of the requests without a reply on {@link #trail} that one is. */
  long trailEnd;

  /** What finds a socket for a request without a reply that is turned away meanwhile. */
  @Nullable Request forerunner;

  /** The socket that was found for it. */
  @Nullable WireSocket granted;

  /** Whether this lane watches the server. */
  boolean monitoring;

  Lane(LaneEnd end, ServerSockets server, LaneOptions options) {
    this.end = end;
    this.server = server;
    this.options = options;
    this.engine = options.engine();
  }

  /**
   * Takes a request to be sent.
   *
   * @param message one whole message; retained if it is taken
   * @return false if it has to wait and nobody would notice that it does: a request without a reply
   *     is what the driver takes for done once it is taken
   * @throws PipelineException if the lane cannot go on
   */
  boolean offer(ByteBuf message) throws PipelineException {
    if (current != null) {
      throw new PipelineException("a request came before the last one was answered");
    }
    return pool == null ? server.firstMessage(this, message) : pool.offer(this, message);
  }

  /** The TLS engine that the driver made for this lane; null if there is none or it is in use. */
  @Nullable SSLEngine takeEngine() {
    SSLEngine taken = engine;
    engine = null;
    return taken;
  }

  /** Whether {@link #takeEngine} would bring one. */
  boolean hasEngine() {
    return engine != null;
  }

  /** What the driver asked of this connection. */
  LaneOptions options() {
    return options;
  }

  boolean isClosed() {
    return closed;
  }

  /** The driver closed the lane, or it broke. */
  void close() {
    if (closed) {
      return;
    }
    closed = true;
    TlsEngines.release(engine);
    engine = null;
    server.laneClosed(this);
  }

  /** Tells the driver that the lane is broken. */
  void fail(PipelineException cause) {
    if (!closed) {
      end.fail(cause);
    }
  }
}
