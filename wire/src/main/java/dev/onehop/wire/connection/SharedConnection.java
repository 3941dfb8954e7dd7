package dev.onehop.wire.connection;

import dev.onehop.wire.connection.WireSettings.PoolLimits;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * A connection with several requests in flight. Confined to the event loop of its {@link
 * SharedConnections}.
 */
final class SharedConnection {
  private final SharedConnections owner;
  private final SharedTransport link;
  private final Lifetime lifetime;
  private final int number;
  private final Deque<Pending> pending = new ArrayDeque<>();
  private int waits;
  private long lastReplyAt;
  private boolean saidSlow;
  private boolean retired;

  /**
   * @param number the connection's number in the meters
   */
  SharedConnection(
      SharedConnections owner, SharedTransport link, Lifetime lifetime, int number, long openedAt) {
    this.owner = owner;
    this.link = link;
    this.lifetime = lifetime;
    this.number = number;
    this.lastReplyAt = openedAt;
  }

  /** A request that has no reply yet. */
  final class Pending implements ReplyHandler {
    private final Exchange exchange;
    private final long sentAt;

    Pending(Exchange exchange, long sentAt) {
      this.exchange = exchange;
      this.sentAt = sentAt;
    }

    @Override
    public void replied(ByteBuf reply) {
      owner.answered(SharedConnection.this, this, reply);
    }

    @Override
    public void failed(IOException cause) {
      owner.broken(SharedConnection.this, this, cause);
    }

    Exchange exchange() {
      return exchange;
    }

    /** Called when the reply has arrived. Returns the duration in nanoseconds. */
    long answered(long now) {
      lastReplyAt = now;
      saidSlow = false;
      done(this, now);
      return now - sentAt;
    }

    /** Called when no reply will arrive. */
    void ended(long now) {
      done(this, now);
    }
  }

  /** Sends a request, unless it was cancelled. */
  void send(Exchange exchange, long now) {
    ByteBuf message = exchange.begin(link.authenticates());
    if (message == null) {
      return;
    }
    Pending request = new Pending(exchange, now);
    pending.add(request);
    waits += exchange.mayWait() ? 1 : 0;
    owner.meters().inFlight(number, pending.size());
    link.send(message, request);
  }

  private void done(Pending request, long now) {
    // The request is usually the first in the queue, so the search is short.
    if (!pending.removeFirstOccurrence(request)) {
      return;
    }
    waits -= request.exchange.mayWait() ? 1 : 0;
    if (retired) {
      closeIfDone();
    } else {
      owner.meters().inFlight(number, pending.size());
    }
    lifetime.idleSince(now);
  }

  /** Sends no further requests on the connection, and closes it after the last reply. */
  void retire() {
    retired = true;
    closeIfDone();
  }

  private void closeIfDone() {
    if (pending.isEmpty()) {
      link.close();
    }
  }

  /** Closes the connection; requests without a reply fail for this reason. */
  void abort(IOException why) {
    link.abort(why);
  }

  /** Whether the connection must not serve further requests. */
  boolean isOver(PoolLimits limits, int poolsGeneration, long now) {
    if (!pending.isEmpty()) {
      lifetime.idleSince(now);
    }
    return lifetime.isOver(limits, poolsGeneration, now);
  }

  Lifetime lifetime() {
    return lifetime;
  }

  int number() {
    return number;
  }

  int inFlight() {
    return pending.size();
  }

  /** The number of requests on this connection that may wait in the server. */
  int waits() {
    return waits;
  }

  /** Whether no request on the connection may wait in the server. */
  boolean isClear() {
    return waits == 0;
  }

  /** Whether the socket accepts a request now. */
  boolean isWritable() {
    return link.isOpen() && link.isWritable();
  }

  long unsentBytes() {
    return link.unsentBytes();
  }

  /**
   * Whether the oldest request takes longer than usual, so that a new request would be delayed,
   * too.
   */
  boolean isSlow(long now, long thresholdNanos) {
    Pending oldest = pending.peek();
    if (oldest == null) {
      return false;
    }
    boolean slow = now - Math.max(oldest.sentAt, lastReplyAt) > thresholdNanos;
    if (slow && !saidSlow) {
      saidSlow = true;
      owner.meters().slowHead();
    }
    return slow;
  }

  /** Whether all requests that the server is executing on this connection were cancelled. */
  boolean isOnlyAbandoned() {
    return !pending.isEmpty() && pending.stream().allMatch(request -> request.exchange.isDone());
  }
}
