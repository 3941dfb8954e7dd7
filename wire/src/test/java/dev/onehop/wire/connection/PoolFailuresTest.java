package dev.onehop.wire.connection;

import static dev.onehop.wire.connection.WireServer.TIMEOUT;
import static dev.onehop.wire.connection.WireServer.ok;
import static dev.onehop.wire.connection.WireServer.ping;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.CallerWritesChannel;
import dev.onehop.wire.connection.WireServer.Client;
import dev.onehop.wire.connection.WireServer.Kind;
import dev.onehop.wire.message.CommandHead;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An exception occurs while a pool opens, clears or closes connections. The waiting requests fail
 * at once, and later requests are served. No slot for an opening connection is lost.
 */
class PoolFailuresTest {
  private static final Duration AT_ONCE = Duration.ofSeconds(10);
  private static final int REQUESTS = 20;
  private static final WireSettings.PoolLimits TWO_OPENING =
      new WireSettings.PoolLimits(0, 0, 2, TIMEOUT, Duration.ZERO, Duration.ZERO);

  private static volatile Step failing = Step.NONE;

  private enum Step {
    NONE,
    LOOKUP,
    /** The socket cannot be created, because no file descriptor is left. */
    SOCKET,
    REGISTRATION,
    CONNECT,
    CLOSE;

    /** An error like that of a class that cannot be loaded, which Reactor does not emit. */
    void failHere() {
      if (failing == this) {
        throw new NoClassDefFoundError("planted");
      }
    }
  }

  /** A channel that fails at a step. */
  public static final class FailingChannel extends CallerWritesChannel {
    public FailingChannel() {
      if (failing == Step.SOCKET) {
        throw new ChannelException("no channel", new IOException("Too many open files"));
      }
    }

    @Override
    public ChannelFuture close() {
      Step.CLOSE.failHere();
      return super.close();
    }

    @Override
    protected boolean doConnect(SocketAddress remote, SocketAddress local) throws Exception {
      Step.CONNECT.failHere();
      return super.doConnect(remote, local);
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
      Step.REGISTRATION.failHere();
      super.doRegister(promise);
    }

    /** The same method for Netty 4.1. */
    @Override
    @Deprecated
    protected void doRegister() throws Exception {
      Step.REGISTRATION.failHere();
      super.doRegister();
    }
  }

  @AfterEach
  void stopFailing() {
    failing = Step.NONE;
  }

  private static Client pool(WireServer server, Kind kind, WireSettings.PoolLimits limits) {
    WireSettings usual = WireServer.settings(kind, limits, null, null, List.of());
    return server.pool(
        kind == Kind.EVENT_LOOP ? Kind.CALLER_WRITES : kind,
        new WireSettings(
            new WireSettings.Sockets(
                FailingChannel.class, null, Duration.ofSeconds(10), 0, 0, null),
            usual.pool(),
            null,
            usual.handshake(),
            List.of(),
            new Addresses(
                host -> {
                  Step.LOOKUP.failHere();
                  return List.of(InetAddress.getAllByName(host));
                },
                Map.of()),
            usual.sharing()));
  }

  private static List<CompletableFuture<OpMsg>> pings(Client pool, WireServer server) {
    return Stream.generate(() -> pool.send(server.name(), ping()).toFuture())
        .limit(REQUESTS)
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "CALLER_WRITES, LOOKUP",
    "CALLER_WRITES, SOCKET",
    "CALLER_WRITES, REGISTRATION",
    "CALLER_WRITES, CONNECT",
    "SHARED, LOOKUP",
    "SHARED, SOCKET",
    "SHARED, REGISTRATION",
    "SHARED, CONNECT",
    "BLOCKING, LOOKUP"
  })
  void failedOpeningFailsAllWaitingRequests(Kind kind, Step step) {
    try (WireServer server = new WireServer((connection, command) -> ok());
        Client pool = pool(server, kind, TWO_OPENING)) {
      failing = step;
      for (CompletableFuture<OpMsg> each : pings(pool, server)) {
        assertThat(each)
            .failsWithin(AT_ONCE)
            .withThrowableOfType(ExecutionException.class)
            .withCauseInstanceOf(IOException.class);
      }

      failing = Step.NONE;
      for (CompletableFuture<OpMsg> each : pings(pool, server)) {
        assertThat(each).succeedsWithin(AT_ONCE);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CALLER_WRITES", "SHARED"})
  void reportsLackOfFileDescriptors(Kind kind) {
    try (WireServer server = new WireServer((connection, command) -> ok());
        Client pool = pool(server, kind, TWO_OPENING)) {
      failing = Step.SOCKET;

      assertThat(pool.send(server.name(), ping()).toFuture())
          .failsWithin(AT_ONCE)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(NoSocketException.class)
          .withMessageContaining("Too many open files");
    }
  }

  /** One request uses the only connection, and the other requests wait for it. */
  @Test
  void waitingRequestsFailDespiteExceptionOnClose() {
    AtomicBoolean silent = new AtomicBoolean();
    try (WireServer server = new WireServer((connection, command) -> silent.get() ? null : ok());
        Client pool =
            pool(
                server,
                Kind.CALLER_WRITES,
                new WireSettings.PoolLimits(1, 0, 2, TIMEOUT, Duration.ZERO, Duration.ZERO))) {
      pool.send(server.name(), ping()).block(TIMEOUT);
      silent.set(true);
      CompletableFuture<OpMsg> used = pool.send(server.name(), ping()).toFuture();
      await().until(() -> server.seen.size() == 3);
      List<CompletableFuture<OpMsg>> waiting = pings(pool, server);

      failing = Step.CLOSE;
      pool.reset(server.name(), true, new IOException("the server is lost"));
      for (CompletableFuture<OpMsg> each : waiting) {
        assertThat(each).failsWithin(AT_ONCE);
      }
      failing = Step.NONE;
      used.cancel(true);
    }
  }

  /** The callback of the first request throws. */
  @Test
  void requestsFailDespiteExceptionInCallback() {
    AtomicInteger failures = new AtomicInteger();
    try (WireServer server = new WireServer((connection, command) -> ok());
        WirePool pool =
            new WirePool(
                server.group,
                WireServer.settings(Kind.EVENT_LOOP, TWO_OPENING, null, null, List.of()))) {
      String unreachable = "127.0.0.1:1";
      for (int n = 0; n < REQUESTS; n++) {
        exchange(pool, unreachable, failures);
      }
      await().atMost(AT_ONCE).until(() -> failures.get() == REQUESTS);
    }
  }

  private static void exchange(WirePool pool, String server, AtomicInteger failures) {
    ByteBuf message = ByteBufAllocator.DEFAULT.buffer(64);
    ping().encode(message);
    CommandHead head = CommandHead.read(message);
    assertThat(head).isNotNull();
    Exchange started =
        pool.exchange(
            ServerAddressName.parse(server),
            null,
            message,
            head,
            new Exchange.Outcome() {
              @Override
              public void replied(ByteBuf reply) {}

              @Override
              public void sent() {}

              @Override
              public void failed(Throwable cause) {
                failures.incrementAndGet();
                throw new IllegalStateException("planted");
              }
            });
    assertThat(started).isNotNull();
  }

  /** The opening of the connection starts before the reset, and fails after it. */
  @Test
  void threadsWaitingBeforeResetFailWithOpening() {
    CountDownLatch hangUp = new CountDownLatch(1);
    try (WireServer server =
            new WireServer((connection, command) -> connection == 1 ? hangUpAfter(hangUp) : null);
        BlockingPool pool = blocking(server)) {
      CompletableFuture<Throwable> opening = new CompletableFuture<>();
      startTaking(pool, server, opening);
      await().until(() -> server.seen.size() == 1);
      List<CompletableFuture<Throwable>> waiting = waiting(pool, server);

      pool.reset(server.name(), false, new IOException("it was gone"));
      hangUp.countDown();

      assertThat(opening).succeedsWithin(AT_ONCE);
      for (CompletableFuture<Throwable> each : waiting) {
        assertThat(each).succeedsWithin(AT_ONCE).isInstanceOf(IOException.class);
      }
    }
  }

  /**
   * The opening of the connection starts before the reset, and fails. The threads start to wait
   * after the reset.
   */
  @Test
  void threadsWaitingAfterResetAreServed() {
    CountDownLatch hangUp = new CountDownLatch(1);
    try (WireServer server =
            new WireServer((connection, command) -> connection == 1 ? hangUpAfter(hangUp) : ok());
        BlockingPool pool = blocking(server)) {
      CompletableFuture<Throwable> opening = new CompletableFuture<>();
      startTaking(pool, server, opening);
      await().until(() -> server.seen.size() == 1);

      pool.reset(server.name(), false, new IOException("it was gone"));
      List<CompletableFuture<Throwable>> waiting = waiting(pool, server);
      hangUp.countDown();

      assertThat(opening).succeedsWithin(AT_ONCE).isInstanceOf(IOException.class);
      for (CompletableFuture<Throwable> each : waiting) {
        assertThat(each).succeedsWithin(AT_ONCE).isNull();
      }
    }
  }

  @Test
  void timedOutThreadReservesNoConnection() throws Exception {
    WireSettings.PoolLimits one =
        new WireSettings.PoolLimits(1, 0, 0, TIMEOUT, Duration.ZERO, Duration.ZERO);
    try (WireServer server = new WireServer((connection, command) -> ok());
        BlockingPool pool =
            new BlockingPool(
                WireServer.settings(Kind.BLOCKING, one, null, null, List.of()), server.group)) {
      TimeLimit passed = TimeLimit.ofMillis(1);
      await().until(passed::isPassed);

      assertThatThrownBy(() -> pool.take(server.name(), passed, new Cancellation()))
          .isInstanceOf(SocketTimeoutException.class);
      CompletableFuture<Throwable> failure = new CompletableFuture<>();
      startTaking(pool, server, failure);
      assertThat(failure).succeedsWithin(AT_ONCE).isNull();
    }
  }

  @Test
  void closingPoolAbortsOpeningConnections() {
    try (WireServer server = new WireServer((connection, command) -> null)) {
      CompletableFuture<Throwable> opening = new CompletableFuture<>();
      try (BlockingPool pool = blocking(server)) {
        startTaking(pool, server, opening);
        await().until(() -> server.seen.size() == 1);
      }

      assertThat(opening).succeedsWithin(AT_ONCE).isInstanceOf(IOException.class);
    }
  }

  /** Creates a pool that opens one connection at a time. */
  private static BlockingPool blocking(WireServer server) {
    WireSettings.PoolLimits limits =
        new WireSettings.PoolLimits(0, 0, 1, TIMEOUT, Duration.ZERO, Duration.ZERO);
    return new BlockingPool(
        WireServer.settings(Kind.BLOCKING, limits, null, null, List.of()), server.group);
  }

  /** Starts threads, one after another. All of them wait for a connection. */
  private static List<CompletableFuture<Throwable>> waiting(BlockingPool pool, WireServer server) {
    List<CompletableFuture<Throwable>> waiting =
        Stream.generate(() -> new CompletableFuture<Throwable>()).limit(5).toList();
    for (CompletableFuture<Throwable> each : waiting) {
      Thread thread = startTaking(pool, server, each);
      await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
    }
    return waiting;
  }

  private static BsonDocument hangUpAfter(CountDownLatch latch) {
    try {
      assertThat(latch.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return WireServer.Script.HANG_UP;
  }

  /** A thread that takes a connection. It completes the future with the failure, or with null. */
  private static Thread startTaking(
      BlockingPool pool, WireServer server, CompletableFuture<Throwable> failure) {
    Thread thread =
        new Thread(
            () ->
                failure.complete(
                    catchThrowable(
                        () -> pool.take(server.name(), TimeLimit.NONE, new Cancellation()))));
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}
