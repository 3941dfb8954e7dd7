package dev.onehop.routing.internal.transport;

import dev.onehop.routing.internal.wire.OpMsg;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One real connection to a server: knows by id which of its requests are unanswered.
 *
 * <p>Confined to one event loop.
 */
final class WireSocket {
  private final ServerSockets server;
  private final long openedAt;
  private final Map<Integer, Request> pending = new LinkedHashMap<>();
  private final Queue<Request> beforeConnect = new ArrayDeque<>();
  private final List<Lane> awaitingConnect = new ArrayList<>();
  private @Nullable SocketEnd end;
  private boolean connected;
  private boolean closed;
  private int lastId;
  private long lastReplyAt;
  private @Nullable Request streaming;
  private int streamId;
  private long stalledSince;
  private long stalledBytes;
  private boolean saidSlow;
  private @Nullable PipelineException retiring;
  private int waits;
  private long unacknowledged;
  private long marked;
  private long settled;

  /** Set when its first hello is sent. */
  @Nullable SocketPool pool;

  /** Whether hello, and authentication where there is one, are done. */
  boolean ready;

  /** The lane whose hello opens it, until it is ready. */
  @Nullable Lane founder;

  /** What to do once it is ready, if the transport opened it by itself. */
  @Nullable Opening opening;

  /** Who uses it alone. */
  @Nullable Lane owner;

  /** Who authenticates on it while others use it. */
  @Nullable Lane conversation;

  /** Its number among the shared ones, -1 while it is not shared. */
  int number = -1;

  /** The lanes whose next request waits until what they sent here without a reply is done. */
  final Set<Lane> followers = new LinkedHashSet<>();

  /** Since when it waits for somebody who needs a socket alone. */
  long idleSince;

  /** What the transport wants of a socket that it opens by itself. */
  interface Opening {
    void ready(WireSocket socket);

    void failed(PipelineException cause);
  }

  WireSocket(ServerSockets server) {
    this.server = server;
    this.openedAt = server.now();
    this.lastReplyAt = openedAt;
  }

  void attach(SocketEnd socketEnd) {
    this.end = socketEnd;
  }

  boolean isConnected() {
    return connected && !closed;
  }

  boolean isClosed() {
    return closed;
  }

  int inFlight() {
    return pending.size() + beforeConnect.size() + (streaming == null ? 0 : 1);
  }

  /** How many of these may wait in the server. */
  int waits() {
    return waits;
  }

  /** Whether what is sent now does not come behind a request that may wait in the server. */
  boolean isClear() {
    return waits == 0;
  }

  /**
   * Sends a request without a reply, and another one behind it, whose reply shows that it is done.
   */
  void sendUnacknowledged(Request request) {
    unacknowledged++;
    send(request);
    mark();
  }

  private void mark() {
    if (marked == settled && settled < unacknowledged) {
      marked = unacknowledged;
      send(Request.ping(Request.Kind.MARKER, null, server.allocator()));
    }
  }

  /** A marker is answered: what was sent without a reply before it is done. */
  void markerAnswered() {
    settled = marked;
    mark();
  }

  /** How many requests were sent without a reply up to now. */
  long unacknowledged() {
    return unacknowledged;
  }

  /** Whether all requests without a reply are done. */
  boolean isSettled() {
    return isSettled(unacknowledged);
  }

  /** Whether so many of the requests without a reply are done. */
  boolean isSettled(long upTo) {
    return closed || settled >= upTo;
  }

  boolean isWritable() {
    return end != null && end.isWritable();
  }

  /** Lets a lane wait until this is connected. */
  void awaitConnect(Lane lane) {
    awaitingConnect.add(lane);
  }

  /** Sends a request, or keeps it until the socket is connected. */
  void send(Request request) {
    request.socket = this;
    request.sentAt = server.now();
    if (connected) {
      write(request);
    } else {
      beforeConnect.add(request);
    }
    noteInFlight();
  }

  private void write(Request request) {
    request.sentAt = server.now();
    ByteBuf message = request.takeMessage();
    int id = nextId();
    MessageHeader.requestId(message, id);
    if (request.expectsReply) {
      pending.put(id, request);
      waits += request.mayWait ? 1 : 0;
    }
    if (end == null) {
      throw new IllegalStateException("not attached");
    }
    end.write(message);
  }

  private int nextId() {
    do {
      lastId = lastId == Integer.MAX_VALUE ? 1 : lastId + 1;
    } while (pending.containsKey(lastId));
    return lastId;
  }

  /** The connection, TLS included, is up. */
  void connected() {
    connected = true;
    List<Lane> lanes = List.copyOf(awaitingConnect);
    awaitingConnect.clear();
    for (Request next = beforeConnect.poll(); next != null; next = beforeConnect.poll()) {
      if (next.isAbandoned()) {
        next.release();
      } else {
        write(next);
      }
    }
    for (Lane lane : lanes) {
      if (!lane.isClosed()) {
        lane.end.connected();
      }
    }
    if (retiring != null && !isAwaited()) {
      close(retiring);
    }
  }

  /**
   * A whole message came.
   *
   * @param message belongs to the caller
   * @throws PipelineException if it answers nothing that was asked: nothing on this socket can be
   *     trusted any more
   */
  void received(ByteBuf message) throws PipelineException {
    if (message.readableBytes() < MessageHeader.BYTES) {
      throw new PipelineException(
          server.name() + " sent a message of " + message.readableBytes() + " bytes");
    }
    int opCode = MessageHeader.opCode(message);
    if (opCode != MessageHeader.OP_MSG
        && opCode != MessageHeader.OP_REPLY
        && opCode != MessageHeader.OP_COMPRESSED) {
      throw new PipelineException(
          server.name() + " sent a message of op code " + opCode + ", which is no reply");
    }
    boolean more = (MessageHeader.flags(message) & OpMsg.MORE_TO_COME) != 0;
    int responseTo = MessageHeader.responseTo(message);
    Request request = pending.remove(responseTo);
    waits -= request != null && request.mayWait ? 1 : 0;
    boolean continued = false;
    if (request == null && streaming != null && responseTo == streamId) {
      // Each reply of a stream answers the one before.
      request = streaming;
      continued = true;
    }
    if (request == null) {
      throw new PipelineException(
          server.name() + " answered request " + responseTo + ", which is not on this socket");
    }
    if (more && owner == null) {
      throw new PipelineException(server.name() + " streams replies that nobody asked for");
    }
    streaming = more ? request : continued ? null : streaming;
    streamId = more ? MessageHeader.requestId(message) : streamId;
    lastReplyAt = server.now();
    saidSlow = false;
    noteInFlight();
    ByteBuf reply = server.copy(message);
    if (!continued) {
      MessageHeader.responseTo(reply, request.clientId);
    }
    SocketPool owningPool = pool;
    if (owningPool == null) {
      reply.release();
      throw new PipelineException(server.name() + " answered before anything was asked");
    }
    owningPool.replied(request, this, reply, more);
    if (retiring != null && !isAwaited()) {
      close(retiring);
    }
  }

  /** More may be written now. */
  void writable() {
    if (pool != null && ready) {
      pool.drain();
    }
  }

  /**
   * Whether the oldest request has been waiting for longer than is usual, so that whatever is sent
   * now would wait, too.
   */
  boolean isSlow(long now, long thresholdNanos) {
    if (pending.isEmpty()) {
      return false;
    }
    long sentAt = pending.values().iterator().next().sentAt;
    boolean slow = now - Math.max(sentAt, lastReplyAt) > thresholdNanos;
    if (slow && !saidSlow) {
      saidSlow = true;
      server.meters().slowHeads.increment();
    }
    return slow;
  }

  /** Whether all that it is busy with is of no use to anybody any more. */
  boolean isOnlyAbandoned() {
    return !pending.isEmpty() && pending.values().stream().allMatch(Request::isAbandoned);
  }

  /**
   * Looks after the socket from time to time.
   *
   * @return why it should be given up, null if it should not
   */
  @Nullable PipelineException check(long now, long stalledAfterNanos) {
    long bytes = end == null ? 0 : end.pendingBytes();
    if (bytes == 0 || bytes != stalledBytes) {
      stalledSince = now;
      stalledBytes = bytes;
    } else if (now - stalledSince > stalledAfterNanos) {
      return new PipelineException(
          server.name()
              + " has not read for "
              + (now - stalledSince) / 1_000_000
              + " ms while "
              + bytes
              + " bytes were waiting");
    }
    Request hello = unansweredHello();
    long timeout = hello == null ? 0 : opensWithin();
    if (hello != null && timeout > 0 && now - hello.sentAt > timeout) {
      return new PipelineException(
          server.name()
              + " has not answered the hello within "
              + timeout / 1_000_000
              + " ms; is it a MongoDB server?");
    }
    return null;
  }

  // The hello that is to make the socket ready; what comes after it is under the driver's own
  // timeouts, and so is connecting where a lane waits for it.
  private @Nullable Request unansweredHello() {
    for (Request request : pending.values()) {
      if (request.kind == Request.Kind.FOUNDING_HELLO
          || request.kind == Request.Kind.REPLAYED_HELLO) {
        return request;
      }
    }
    return opening == null ? null : beforeConnect.peek();
  }

  // Nanoseconds, 0 for any time.
  private long opensWithin() {
    return founder == null
        ? server.defaultConnectTimeoutNanos()
        : founder.options().connectTimeoutMillis() * 1_000_000L;
  }

  boolean isUnclaimed() {
    return pool == null && beforeConnect.isEmpty() && awaitingConnect.isEmpty();
  }

  /** Whether a hello or an authentication is to make it ready. */
  boolean isOpening() {
    return opening != null || founder != null;
  }

  long openedAt() {
    return openedAt;
  }

  /**
   * Closes it as soon as nobody waits for a reply on it: a socket that was shared before a lane got
   * it alone may still owe replies to others.
   */
  void retire(PipelineException cause) {
    if (isAwaited()) {
      retiring = cause;
    } else {
      close(cause);
    }
  }

  private boolean isAwaited() {
    return pending.values().stream()
            .anyMatch(r -> r.kind == Request.Kind.MARKER || (r.lane != null && !r.isAbandoned()))
        || awaitingConnect.stream().anyMatch(lane -> !lane.isClosed());
  }

  /** The connection is gone, never came up, or can't be trusted any more. */
  void broken(Throwable cause) {
    if (!closed) {
      server.meters().failures.increment();
      close(cause);
    }
  }

  /** Closes it; what is still unanswered fails for {@code cause}. */
  void close(Throwable cause) {
    if (closed) {
      return;
    }
    closed = true;
    List<Lane> never = List.copyOf(awaitingConnect);
    awaitingConnect.clear();
    List<Request> unanswered = new ArrayList<>(pending.values());
    unanswered.addAll(beforeConnect);
    if (streaming != null) {
      unanswered.add(streaming);
    }
    pending.clear();
    waits = 0;
    beforeConnect.clear();
    streaming = null;
    unanswered.forEach(Request::release);
    if (end != null) {
      end.close();
    }
    boolean wasConnected = connected;
    server.socketClosed(this);
    for (Lane lane : never) {
      if (!lane.isClosed()) {
        lane.end.connectFailed(cause);
      }
    }
    if (pool != null) {
      PipelineException named =
          cause instanceof PipelineException already
              ? already
              : new PipelineException(
                  (wasConnected ? "connection to " : "cannot connect to ")
                      + server.name()
                      + (wasConnected ? " failed: " : ": ")
                      + cause.getMessage(),
                  cause);
      pool.socketClosed(this, unanswered, named);
    }
  }

  @Override
  public String toString() {
    return "socket to %s: %s, %d in flight"
        .formatted(
            server.name(),
            closed ? "closed" : ready ? "ready" : connected ? "connected" : "connecting",
            inFlight());
  }

  private void noteInFlight() {
    if (number >= 0) {
      server.meters().inFlight(number, inFlight());
    }
  }
}
