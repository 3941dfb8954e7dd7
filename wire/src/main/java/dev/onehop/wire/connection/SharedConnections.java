package dev.onehop.wire.connection;

import dev.onehop.wire.LateErrors;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.CallerRunsEventLoop;
import dev.onehop.wire.connection.WireSettings.PoolLimits;
import dev.onehop.wire.connection.WireSettings.Sharing;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * The shared connections to one server, for short requests, and the queues of waiting requests.
 *
 * <p>There are two kinds of requests. A request that may wait in the server, such as a write that
 * waits for its write concern, shares a connection only with requests of the same kind. A quick
 * request is sent behind such a request only if there is a single connection.
 *
 * <p>The requests that may wait use the last connections of the list. For example, if they are a
 * third of all requests, they use a third of the connections. At least one responsive connection
 * stays free for quick requests. Only if no quick request exists and the pool has room for a
 * separate connection, the requests that may wait use all connections.
 *
 * <p>Everything runs on one event loop, or on the sending thread if the loop is idle. The comment
 * of a method that any thread may call says so.
 */
final class SharedConnections {
  /**
   * A request that has waited for this time while all connections are slow gets a separate
   * connection.
   */
  private static final Duration RELIEF = Duration.ofSeconds(1);

  /**
   * If all requests on a connection were cancelled, the server has this time to finish them before
   * the connection is closed.
   */
  private static final Duration ABANDONED = Duration.ofSeconds(1);

  /** After a connection could not be opened, no other connection is opened for this time. */
  private static final Duration OPEN_AGAIN = Duration.ofSeconds(1);

  private final ServerAddressName server;
  private final CallerRunsEventLoop loop;
  private final PoolLimits limits;
  private final Sharing sharing;
  private final SharingMeters meters;
  private final Pool pool;
  private final Opener opener;
  private final LongSupplier nanoTime;
  private final List<SharedConnection> connections = new ArrayList<>();
  // Connections that serve no further requests but have requests in flight.
  private final Set<SharedConnection> retired = new LinkedHashSet<>();
  private final Set<Opening> opening = new LinkedHashSet<>();
  private final WaitingLine quick = new WaitingLine();
  private final WaitingLine patient = new WaitingLine();
  private boolean refused;
  private long refusedAt;
  private boolean closed;

  /** The part of the server's pool that shared connections need. */
  interface Pool {
    /** The generation of connections that are opened now. */
    int generation();

    /** Whether a request can get a separate connection without waiting. */
    boolean hasRoom();

    /** Assigns a separate connection to a request. */
    void takeOwn(Exchange exchange);

    /** As {@link ServerPool#clear}. */
    void clear(int born);
  }

  /** Opens connections on the event loop. */
  interface Opener {
    Mono<? extends SharedTransport> open();
  }

  private record Opening(Disposable.Swap connecting, int born) {}

  SharedConnections(
      ServerAddressName server,
      CallerRunsEventLoop loop,
      PoolLimits limits,
      Sharing sharing,
      SharingMeters meters,
      Pool pool,
      Opener opener,
      LongSupplier nanoTime) {
    this.server = server;
    this.loop = loop;
    this.limits = limits;
    this.sharing = sharing;
    this.meters = meters;
    this.pool = pool;
    this.opener = opener;
    this.nanoTime = nanoTime;
  }

  long now() {
    return nanoTime.getAsLong();
  }

  SharingMeters meters() {
    return meters;
  }

  /** Sends a request on the least loaded connection, or queues it. Any thread. */
  void take(Exchange exchange) {
    loop.run(() -> dispatch(exchange));
  }

  private void dispatch(Exchange exchange) {
    long now = now();
    boolean mayWait = exchange.mayWait();
    if (closed) {
      exchange.unable(ServerPool.clientIsClosed());
      return;
    }
    // If there is only one shared connection, requests that may wait in the server get separate
    // connections. Quick requests get one if they would be held up on all shared connections.
    if (mayWait ? sharing.connections() == 1 : areHeldUp(now) && pool.hasRoom()) {
      pool.takeOwn(exchange);
      return;
    }
    meters.shared();
    exchange.waitingSince(now);
    WaitingLine line = line(mayWait);
    SharedConnection connection = line.isEmpty() ? pick(mayWait, now) : null;
    if (connection == null) {
      line.add(exchange);
    } else {
      connection.send(exchange, now);
    }
    if (connection == null || connection.inFlight() > 1) {
      grow(now);
    }
  }

  private WaitingLine line(boolean mayWait) {
    return mayWait ? patient : quick;
  }

  /** The least loaded connection for a request that is sent now, null if all are full or slow. */
  private @Nullable SharedConnection pick(boolean mayWait, long now) {
    return mayWait
        ? pickToWait(sharing.maxInFlight(), !isGrowing(now), now)
        : pickQuick(sharing.maxInFlight(), now);
  }

  private @Nullable SharedConnection pickQuick(int limit, long now) {
    boolean crowds = connections.size() == 1 && !isGrowing(now);
    SharedConnection best = null;
    for (SharedConnection each : connections) {
      if ((each.isClear() || crowds) && each.inFlight() < limit && flows(each, now)) {
        best = lessLoaded(best, each);
      }
    }
    return best;
  }

  /**
   * The least loaded connection for a request that may wait in the server; null if all suitable
   * connections are full or slow.
   *
   * @param crowds whether the request may use the connection if it is the only one
   */
  private @Nullable SharedConnection pickToWait(int limit, boolean crowds, long now) {
    int flowing = 0;
    int waits = 1 + patient.size();
    int others = quick.size();
    for (SharedConnection each : connections) {
      if (flows(each, now)) {
        flowing++;
        waits += each.waits();
        others += each.inFlight() - each.waits();
      }
    }
    boolean all = connections.size() == 1 ? crowds : others == 0 && pool.hasRoom();
    int most = all ? flowing : flowing - 1;
    int part = Math.min(most, Math.max(1, Math.round((float) flowing * waits / (waits + others))));
    SharedConnection best = null;
    for (int n = connections.size() - 1; n >= 0 && part > 0; n--) {
      SharedConnection each = connections.get(n);
      if (flows(each, now)) {
        part--;
        best = each.inFlight() < limit ? lessLoaded(best, each) : best;
      }
    }
    return best;
  }

  private static SharedConnection lessLoaded(
      @Nullable SharedConnection best, SharedConnection each) {
    return best == null || each.inFlight() < best.inFlight() ? each : best;
  }

  private boolean flows(SharedConnection connection, long now) {
    return connection.isWritable() && !connection.isSlow(now, slowThresholdNanos(connection));
  }

  /**
   * The time after which a connection without a reply counts as slow, by the kind of its requests.
   */
  private long slowThresholdNanos(SharedConnection connection) {
    return line(!connection.isClear()).slowThresholdNanos();
  }

  /** Whether every connection has a request that waits in the server and is slow. */
  private boolean areHeldUp(long now) {
    for (SharedConnection each : connections) {
      if (each.isClear() || !each.isSlow(now, slowThresholdNanos(each))) {
        return false;
      }
    }
    return !connections.isEmpty();
  }

  /** Whether another connection is being opened or may be opened. */
  private boolean isGrowing(long now) {
    return connections.size() < sharing.connections() && (!opening.isEmpty() || mayOpen(now));
  }

  private boolean mayOpen(long now) {
    return connections.isEmpty() || !refused || now - refusedAt > OPEN_AGAIN.toNanos();
  }

  /** Opens connections for the waiting requests, within the limits. */
  private void grow(long now) {
    while (!closed
        && opening.size() < Math.max(1, quick.size() + patient.size())
        && connections.size() + opening.size() < sharing.connections()
        && (limits.maxConnecting() == 0 || opening.size() < limits.maxConnecting())
        && mayOpen(now)) {
      open();
    }
  }

  private void open() {
    Opening one = new Opening(Disposables.swap(), pool.generation());
    opening.add(one);
    try {
      one.connecting()
          .update(
              opener
                  .open()
                  .subscribe(
                      link -> loop.run(() -> opened(one, link)),
                      failure -> failed(one, failure),
                      null,
                      LateErrors.LOGGED));
    } catch (Throwable failure) {
      failed(one, WireConnection.unreachable(server, failure));
    }
  }

  private void failed(Opening one, Throwable failure) {
    Runnable end = () -> notOpened(one, failure);
    if (loop.inEventLoop()) {
      // The failure is processed in a later task, because the caller may be in a loop that opens
      // several connections.
      loop.execute(end);
    } else {
      loop.run(end);
    }
  }

  private void opened(Opening one, SharedTransport link) {
    if (!opening.remove(one)) {
      // The pool was cleared or closed while this connection was being opened.
      link.close();
      return;
    }
    long now = now();
    refused = false;
    SharedConnection connection =
        new SharedConnection(this, link, new Lifetime(one.born(), now), meters.takeNumber(), now);
    connections.add(connection);
    link.whenClosed(() -> loop.run(() -> closed(connection)));
    link.whenWritable(() -> loop.run(() -> drain(now())));
    drain(now);
    if (hasWaiting()) {
      grow(now);
    }
  }

  private void notOpened(Opening one, Throwable failure) {
    if (!opening.remove(one)) {
      return;
    }
    refused = true;
    refusedAt = now();
    List<Exchange> never = connections.isEmpty() ? removeWaiting() : List.of();
    try {
      meters.failure();
      if (connections.isEmpty()) {
        pool.clear(one.born());
      }
    } finally {
      fail(never, failure);
    }
  }

  /** Fails all requests. If the call for one request throws, the other requests are failed, too. */
  private static void fail(List<Exchange> never, Throwable why) {
    Each.of(never, exchange -> exchange.unable(why));
  }

  private void closed(SharedConnection connection) {
    if (connections.remove(connection)) {
      meters.returnNumber(connection.number());
    }
    retired.remove(connection);
    if (hasWaiting()) {
      grow(now());
      drain(now());
    }
  }

  /** Called when a reply has arrived. Any thread. */
  void answered(SharedConnection connection, SharedConnection.Pending request, ByteBuf reply) {
    int code = ReplyCode.of(reply);
    Exchange exchange = request.exchange();
    // The server has not executed the command, so it can be sent again.
    boolean again = ReplyCode.wantsAuthentication(code) && exchange.restart();
    loop.run(() -> answered(connection, request, code, again));
    if (!again && !exchange.answered(reply)) {
      meters.lateReply();
    }
  }

  private void answered(
      SharedConnection connection, SharedConnection.Pending request, int code, boolean again) {
    long now = now();
    Exchange exchange = request.exchange();
    line(exchange.mayWait()).answered(request.answered(now));
    if (again) {
      // The connection is not closed, because its other requests may still get a reply.
      retire(connection);
      pool.takeOwn(exchange);
    } else if (ReplyCode.isShutdown(code)) {
      pool.clear(connection.lifetime().generation());
    }
    drain(now);
  }

  /** Called when a connection broke during a request. Any thread. */
  void broken(SharedConnection connection, SharedConnection.Pending request, IOException cause) {
    loop.run(() -> broken(connection, request));
    request.exchange().broken(cause);
  }

  private void broken(SharedConnection connection, SharedConnection.Pending request) {
    request.ended(now());
    if (connections.contains(connection)) {
      retire(connection);
      meters.failure();
    }
    pool.clear(connection.lifetime().generation());
  }

  private void retire(SharedConnection connection) {
    if (connections.remove(connection)) {
      meters.returnNumber(connection.number());
      retired.add(connection);
      connection.retire();
    }
  }

  /** Sends waiting requests, as far as connections allow it. */
  private void drain(long now) {
    drain(quick, false, now);
    drain(patient, true, now);
  }

  private void drain(WaitingLine line, boolean mayWait, long now) {
    for (Exchange next = line.first(); next != null; next = line.first()) {
      SharedConnection connection = pick(mayWait, now);
      if (connection == null) {
        return;
      }
      line.removeFirst();
      meters.waited(now - next.waitingSince());
      connection.send(next, now);
    }
  }

  private boolean hasWaiting() {
    return !quick.isEmpty() || !patient.isEmpty();
  }

  private List<Exchange> removeWaiting() {
    List<Exchange> waiting = new ArrayList<>(quick.removeIf(each -> true));
    waiting.addAll(patient.removeIf(each -> true));
    return waiting;
  }

  /** Called when a waiting request was cancelled. Any thread. */
  void forget(Exchange exchange) {
    loop.run(
        () -> {
          line(exchange.mayWait()).remove(exchange);
          // The next request may be sendable, because the cancelled one no longer waits ahead of
          // it.
          drain(now());
        });
  }

  /** Runs the periodic checks. Any thread. */
  void sweep() {
    loop.run(this::sweepNow);
  }

  private void sweepNow() {
    long now = now();
    List<SharedConnection> all = new ArrayList<>(connections);
    all.addAll(retired);
    Each.of(all, each -> check(each, now));
    if (hasWaiting()) {
      grow(now);
      drain(now);
      relieve(quick, false, now);
      relieve(patient, true, now);
    }
    long maxWait = limits.maxWait().toNanos();
    if (maxWait >= 0) {
      List<Exchange> late = quick.removeIf(each -> now - each.waitingSince() > maxWait);
      late.addAll(patient.removeIf(each -> now - each.waitingSince() > maxWait));
      fail(late, ServerPool.waitedInVain(server, limits.maxWait()));
    }
  }

  private void check(SharedConnection connection, long now) {
    long abandonedAfter = Math.max(ABANDONED.toNanos(), slowThresholdNanos(connection));
    if (connection.lifetime().isStalled(connection.unsentBytes(), now)) {
      connection.abort(Lifetime.stalled(server));
    } else if (connection.isOnlyAbandoned() && connection.isSlow(now, abandonedAfter)) {
      // This ends the requests: the server stops executing a request when its connection is closed.
      connection.abort(
          new IOException(server + " still executes requests, but all of them were cancelled"));
    } else if (connection.isOver(limits, pool.generation(), now)) {
      retire(connection);
    }
  }

  /**
   * Sends waiting requests on separate connections, if all shared connections would delay them and
   * the pool has room.
   */
  private void relieve(WaitingLine line, boolean mayWait, long now) {
    for (Exchange first = line.first();
        first != null && isStuck(first, line, mayWait, now) && pool.hasRoom();
        first = line.first()) {
      line.removeFirst();
      meters.waited(now - first.waitingSince());
      pool.takeOwn(first);
    }
  }

  /**
   * Whether the first waiting request has waited for long while every suitable connection is slow.
   * False if a suitable connection is only full, because such a connection soon accepts requests
   * again.
   */
  private boolean isStuck(Exchange first, WaitingLine line, boolean mayWait, long now) {
    return now - first.waitingSince() >= Math.max(RELIEF.toNanos(), line.slowThresholdNanos())
        && (mayWait ? pickToWait(Integer.MAX_VALUE, false, now) : pickQuick(Integer.MAX_VALUE, now))
            == null;
  }

  /**
   * Retires the connections of earlier generations. Any thread.
   *
   * @param interrupt the reason with which waiting requests and requests in flight fail; null to
   *     let them end
   */
  void clear(int generation, @Nullable IOException interrupt) {
    loop.run(() -> clearNow(generation, interrupt));
  }

  private void clearNow(int generation, @Nullable IOException interrupt) {
    List<Opening> ended = opening.stream().filter(one -> one.born() < generation).toList();
    opening.removeAll(Set.copyOf(ended));
    Each.of(ended, one -> one.connecting().dispose());
    Each.of(
        connections.stream().filter(each -> each.lifetime().generation() < generation).toList(),
        this::retire);
    if (interrupt != null) {
      Each.of(List.copyOf(retired), each -> each.abort(interrupt));
      fail(removeWaiting(), interrupt);
    }
    if (hasWaiting()) {
      grow(now());
    }
  }

  /**
   * Closes connections that are idle or being opened now, and connections in use after their last
   * reply. Any thread.
   */
  void close() {
    loop.run(this::closeNow);
  }

  private void closeNow() {
    closed = true;
    Each.of(opening, one -> one.connecting().dispose());
    opening.clear();
    Each.of(List.copyOf(connections), this::retire);
    fail(removeWaiting(), ServerPool.clientIsClosed());
  }
}
