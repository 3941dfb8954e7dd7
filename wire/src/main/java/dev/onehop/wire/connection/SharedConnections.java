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
 * The connections to one server that short requests share, and the requests that wait for one.
 *
 * <p>There are two sorts of requests. One that may wait in the server, such as a write for its
 * write concern, shares a connection with its like only: never is another one sent behind it,
 * unless there is but one connection. How many of the connections the ones that may wait get, from
 * the last one on, is their part of all requests. One connection, and one that answers, is left to
 * the others where there are any, or where these could not have one of their own.
 *
 * <p>Everything happens on one event loop, on the thread that sends a request where the loop is
 * idle; what is called by other threads says so.
 */
final class SharedConnections {
  /** What waits for that long, and every connection is slow, gets one of its own. */
  private static final Duration RELIEF = Duration.ofSeconds(1);

  /** A server is given that long for what nothing waits for any more. */
  private static final Duration ABANDONED = Duration.ofSeconds(1);

  /** A server that takes no further connection is asked again after that. */
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
  // Those that serve no further request, but still owe answers.
  private final Set<SharedConnection> retired = new LinkedHashSet<>();
  private final Set<Opening> opening = new LinkedHashSet<>();
  private final WaitingLine quick = new WaitingLine();
  private final WaitingLine patient = new WaitingLine();
  private boolean refused;
  private long refusedAt;
  private boolean closed;

  /** The pool of the server, as far as it concerns what is shared. */
  interface Pool {
    /** The generation of connections that are opened now. */
    int generation();

    /** Whether a request may have a connection of its own without waiting for others. */
    boolean hasRoom();

    /** Gives a request a connection of its own. */
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

  /** Sends a request on the least loaded connection, or lets it wait for one. Any thread. */
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
    // With one connection, there is no second one to share.
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
   * The same for one that may wait.
   *
   * @param crowds whether it may go on the only connection there is
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

  /** How long a connection may owe an answer, by what is on it. */
  private long slowThresholdNanos(SharedConnection connection) {
    return line(!connection.isClear()).slowThresholdNanos();
  }

  /** Whether on every connection there is something that waits in the server, and for long. */
  private boolean areHeldUp(long now) {
    for (SharedConnection each : connections) {
      if (each.isClear() || !each.isSlow(now, slowThresholdNanos(each))) {
        return false;
      }
    }
    return !connections.isEmpty();
  }

  /** Whether there will soon be a further connection. */
  private boolean isGrowing(long now) {
    return connections.size() < sharing.connections() && (!opening.isEmpty() || mayOpen(now));
  }

  private boolean mayOpen(long now) {
    return connections.isEmpty() || !refused || now - refusedAt > OPEN_AGAIN.toNanos();
  }

  /** Opens connections if more would be of use. */
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
      // A failure during the call must not end in it: the caller may be opening several.
      loop.execute(end);
    } else {
      loop.run(end);
    }
  }

  private void opened(Opening one, SharedTransport link) {
    if (!opening.remove(one)) {
      // Cleared or closed meanwhile.
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

  /** Fails requests, each of them whatever becomes of the others. */
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

  /** An answer came. Any thread. */
  void answered(SharedConnection connection, SharedConnection.Pending request, ByteBuf reply) {
    int code = ReplyCode.of(reply);
    Exchange exchange = request.exchange();
    // The server has refused the command before it looked at it.
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
      // The others on the connection may still be answered.
      retire(connection);
      pool.takeOwn(exchange);
    } else if (ReplyCode.isShutdown(code)) {
      pool.clear(connection.lifetime().generation());
    }
    drain(now);
  }

  /** A connection broke under a request. Any thread. */
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

  /** Sends what waits, as far as it goes. */
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

  /** A request was cancelled while it waited. Any thread. */
  void forget(Exchange exchange) {
    loop.run(
        () -> {
          line(exchange.mayWait()).remove(exchange);
          // What waited behind it may be of the other sort's part.
          drain(now());
        });
  }

  /** Looks after all of it from time to time. Any thread. */
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
      // The server stops what it is busy with when the connection is closed.
      connection.abort(new IOException("nothing waits for what " + server + " is busy with"));
    } else if (connection.isOver(limits, pool.generation(), now)) {
      retire(connection);
    }
  }

  /**
   * What all connections would hold up for long goes on connections of its own, if there is room.
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
   * Whether the first in a line has waited for long while every connection that it might use is
   * slow; not if one of them is only full, so that the line moves on.
   */
  private boolean isStuck(Exchange first, WaitingLine line, boolean mayWait, long now) {
    return now - first.waitingSince() >= Math.max(RELIEF.toNanos(), line.slowThresholdNanos())
        && (mayWait ? pickToWait(Integer.MAX_VALUE, false, now) : pickQuick(Integer.MAX_VALUE, now))
            == null;
  }

  /**
   * Retires what was opened before a generation. Any thread.
   *
   * @param interrupt why requests fail that wait or are under way; null to let them end
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

  /** Closes what is idle or not open yet now, the rest when it is answered. Any thread. */
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
