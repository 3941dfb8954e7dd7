package dev.onehop.wire.connection;

import static dev.onehop.wire.connection.WireServer.TIMEOUT;
import static dev.onehop.wire.connection.WireServer.ok;
import static dev.onehop.wire.connection.WireServer.ping;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.onehop.wire.connection.WireServer.Client;
import dev.onehop.wire.connection.WireServer.Kind;
import dev.onehop.wire.message.OpMsg;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** A server's pool has the limits of the driver's pool, and is cleared in the same cases. */
class PoolLimitsTest {
  private static final Duration NEVER = Duration.ZERO;

  private static WireSettings.PoolLimits limits(
      int maxSize, int minSize, int maxConnecting, Duration maxWait) {
    return new WireSettings.PoolLimits(maxSize, minSize, maxConnecting, maxWait, NEVER, NEVER);
  }

  private static List<CompletableFuture<OpMsg>> pings(Client pool, WireServer server, int many) {
    return Stream.generate(() -> pool.send(server.name(), ping()).toFuture()).limit(many).toList();
  }

  private static void assertAllAnswered(List<CompletableFuture<OpMsg>> pings) {
    assertThat(CompletableFuture.allOf(pings.toArray(CompletableFuture[]::new)))
        .succeedsWithin(TIMEOUT);
  }

  /** It is unknown whether the server has executed the request, so the pool must not repeat it. */
  @ParameterizedTest
  @EnumSource
  void doesNotResendRequestOfBrokenConnection(Kind kind) {
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    command.getFirstKey().equals("insert") ? WireServer.Script.HANG_UP : ok());
        Client pool = server.pool(kind, limits(0, 0, 0, TIMEOUT))) {
      assertAllAnswered(pings(pool, server, 5));

      assertThatThrownBy(
              () ->
                  pool.send(
                          server.name(),
                          OpMsg.command(BsonDocument.parse("{insert: 'c', $db: 'it'}")))
                      .block(TIMEOUT))
          .hasRootCauseInstanceOf(IOException.class)
          .hasMessageContaining(server.name().toString());
      pool.send(server.name(), ping()).block(TIMEOUT);
      assertThat(server.seen).filteredOn(each -> each.containsKey("insert")).hasSize(1);
    }
  }

  /**
   * All requests to a lost server fail, as in the driver's pool after a timeout of the monitor's
   * heartbeat.
   */
  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "SHARED")
  void interruptingResetFailsAllRequests(Kind kind) {
    AtomicBoolean silent = new AtomicBoolean();
    try (WireServer server = new WireServer((connection, command) -> silent.get() ? null : ok());
        Client pool = server.pool(kind, limits(2, 0, 0, TIMEOUT))) {
      pool.send(server.name(), ping()).block(TIMEOUT);
      silent.set(true);
      // One ping is sent, one opens a connection, and one waits for a free connection.
      List<CompletableFuture<OpMsg>> pings = pings(pool, server, 3);
      await().until(() -> server.accepted() == 2 && server.seen.size() == 4);

      pool.reset(server.name(), true, new IOException(server.name() + " is lost"));
      for (CompletableFuture<OpMsg> each : pings) {
        assertThat(each)
            .failsWithin(TIMEOUT)
            .withThrowableThat()
            .withMessageContaining(server.name().toString());
      }
      silent.set(false);
      assertAllAnswered(pings(pool, server, 3));
      await().until(() -> server.open() <= 2);
    }
  }

  @ParameterizedTest
  @EnumSource
  void resetWithoutInterruptKeepsPendingRequests(Kind kind) {
    AtomicBoolean silent = new AtomicBoolean(true);
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    silent.get() && command.getFirstKey().equals("find") ? null : ok());
        Client pool = server.pool(kind, limits(0, 0, 0, TIMEOUT))) {
      CompletableFuture<OpMsg> find =
          pool.send(server.name(), OpMsg.command(BsonDocument.parse("{find: 'c', $db: 'it'}")))
              .toFuture();
      await().until(() -> server.seen.size() == 2);
      pool.send(server.name(), ping()).block(TIMEOUT);
      await().until(() -> server.open() == 2);

      pool.reset(server.name(), false, new IOException("it was gone"));
      await().until(() -> server.open() == 1);
      assertThat(find).isNotDone();
      pool.send(server.name(), ping()).block(TIMEOUT);
      assertThat(server.accepted()).isEqualTo(3);
      find.cancel(true);
    }
  }

  private static boolean isHello(BsonDocument command) {
    return command.getFirstKey().equals("hello");
  }

  @ParameterizedTest
  @EnumSource
  void limitsConnections(Kind kind) {
    try (WireServer server = new WireServer((connection, command) -> ok());
        Client pool = server.pool(kind, limits(3, 0, 0, TIMEOUT))) {
      assertAllAnswered(pings(pool, server, 200));

      assertThat(server.accepted()).isLessThanOrEqualTo(3);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"EVENT_LOOP", "BLOCKING"})
  void bothKindsOfPoolsShareLimit(Kind first) {
    Kind second = first == Kind.BLOCKING ? Kind.EVENT_LOOP : Kind.BLOCKING;
    AtomicBoolean silent = new AtomicBoolean();
    try (WireServer server =
        new WireServer((connection, command) -> silent.get() && !isHello(command) ? null : ok())) {
      Map<Kind, Client> pools = server.pools(limits(3, 0, 0, TIMEOUT));
      try (Client one = pools.get(first);
          Client other = pools.get(second)) {
        // Idle connections of one kind are closed for the other kind.
        assertAllAnswered(pings(one, server, 20));
        assertAllAnswered(pings(other, server, 20));
        assertAllAnswered(pings(one, server, 20));
        await().until(() -> server.open() <= 3);

        silent.set(true);
        int before = server.seen.size();
        List<CompletableFuture<OpMsg>> stuck = pings(one, server, 2);
        await().until(() -> sent(server, before) == 2);
        List<CompletableFuture<OpMsg>> others = pings(other, server, 5);
        await().until(() -> sent(server, before) == 3);
        await()
            .during(Duration.ofMillis(700))
            .until(() -> server.open() <= 3 && sent(server, before) == 3);

        // A slot that one kind has released serves the other kind.
        silent.set(false);
        stuck.forEach(each -> each.cancel(true));
        await().until(() -> others.stream().filter(CompletableFuture::isDone).count() == 4);
        others.forEach(each -> each.cancel(true));
      }
    }
  }

  private static long sent(WireServer server, int after) {
    synchronized (server.seen) {
      return server.seen.stream().skip(after).filter(each -> !isHello(each)).count();
    }
  }

  @ParameterizedTest
  @EnumSource
  void limitsConnectionsOpeningAtOnce(Kind kind) {
    AtomicBoolean silent = new AtomicBoolean(true);
    try (WireServer server = new WireServer((connection, command) -> silent.get() ? null : ok());
        Client pool = server.pool(kind, limits(0, 0, 2, TIMEOUT))) {
      List<CompletableFuture<OpMsg>> pings = pings(pool, server, 20);
      await().until(() -> server.seen.size() == 2);
      await().during(Duration.ofMillis(300)).until(() -> server.accepted() == 2);
      pings.forEach(each -> each.cancel(true));
    }
  }

  @ParameterizedTest
  @EnumSource
  void abortedOpeningsReleaseTheirSlots(Kind kind) {
    AtomicBoolean silent = new AtomicBoolean(true);
    try (WireServer server = new WireServer((connection, command) -> silent.get() ? null : ok());
        Client pool = server.pool(kind, limits(0, 0, 2, TIMEOUT))) {
      List<CompletableFuture<OpMsg>> pings = pings(pool, server, 20);
      await().until(() -> server.seen.size() == 2);
      pool.reset(server.name(), true, new IOException(server.name() + " is lost"));
      await().until(() -> pings.stream().allMatch(CompletableFuture::isCompletedExceptionally));
      silent.set(false);
      assertAllAnswered(pings(pool, server, 20));
    }
  }

  /**
   * Tested only with event loops, because a thread that opens a connection waits for this
   * connection.
   */
  @Test
  void waitingRequestTakesFirstFreeConnection() {
    // Of two connections that are being opened, one never says hello.
    try (WireServer server =
            new WireServer(
                (connection, command) -> connection == 1 && isHello(command) ? null : ok());
        Client pool = server.pool(Kind.EVENT_LOOP, limits(2, 0, 2, TIMEOUT))) {
      List<CompletableFuture<OpMsg>> pings = pings(pool, server, 50);

      assertAllAnswered(pings);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "SHARED")
  void waitingRequestTimesOut(Kind kind) {
    try (WireServer server =
            new WireServer((connection, command) -> isHello(command) ? ok() : null);
        Client pool = server.pool(kind, limits(1, 0, 2, Duration.ofMillis(200)))) {
      CompletableFuture<OpMsg> first = pool.send(server.name(), ping()).toFuture();
      await().until(() -> server.seen.size() == 2);

      assertThatThrownBy(() -> pool.send(server.name(), ping()).block(TIMEOUT))
          .hasRootCauseInstanceOf(IOException.class)
          .hasMessageContaining("timed out after 200 ms while waiting for a connection to");
      assertThat(first).isNotDone();
      first.cancel(true);
    }
  }

  /** Tested only with event loops, because {@link BlockingPool} ignores {@code minSize}. */
  @Test
  void keepsMinimumOfOpenConnections() {
    try (WireServer server = new WireServer((connection, command) -> ok());
        Client pool = server.pool(Kind.EVENT_LOOP, limits(10, 4, 2, TIMEOUT))) {
      pool.send(server.name(), ping()).block(TIMEOUT);

      await().until(() -> server.open() == 4);
      await().during(Duration.ofMillis(700)).until(() -> server.open() == 4);
    }
  }

  @ParameterizedTest
  @EnumSource
  void closesIdleConnections(Kind kind) {
    try (WireServer server = new WireServer((connection, command) -> ok());
        Client pool =
            server.pool(
                kind,
                new WireSettings.PoolLimits(0, 0, 0, TIMEOUT, Duration.ofMillis(100), NEVER))) {
      assertAllAnswered(pings(pool, server, 5));

      await().until(() -> server.open() == 0);
      pool.send(server.name(), ping()).block(TIMEOUT);
    }
  }

  @ParameterizedTest
  @EnumSource
  void closesConnectionsAfterMaximumAge(Kind kind) {
    try (WireServer server = new WireServer((connection, command) -> ok());
        Client pool =
            server.pool(
                kind,
                new WireSettings.PoolLimits(1, 0, 0, TIMEOUT, NEVER, Duration.ofMillis(50)))) {
      // The connection is used all the time, so it is closed because of its age.
      await()
          .pollInterval(Duration.ofMillis(1))
          .until(
              () -> {
                pool.send(server.name(), ping()).block(TIMEOUT);
                return server.accepted() > 2;
              });
      await().until(() -> server.open() <= 1);
    }
  }

  /** A reply with the number of its connection. */
  private static BsonDocument numbered(int connection) {
    return ok().append("connection", new BsonInt32(connection));
  }

  @ParameterizedTest
  @EnumSource
  void shutdownReplyClosesAllConnections(Kind kind) {
    AtomicInteger shuttingDown = new AtomicInteger();
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    !isHello(command) && connection == shuttingDown.get()
                        ? BsonDocument.parse("{ok: 0, code: 91, errmsg: 'shutting down'}")
                        : numbered(connection));
        Client pool = server.pool(kind, limits(0, 0, 0, TIMEOUT))) {
      assertAllAnswered(pings(pool, server, 5));
      int before = server.accepted();
      int next = connectionOfNextPing(pool, server);
      shuttingDown.set(next);
      // The reply says that the server shuts down. All idle connections then belong to an earlier
      // generation, and the pool closes them.
      pool.send(server.name(), ping()).block(TIMEOUT);

      await().until(() -> server.open() == 0);
      assertThat(connectionOfNextPing(pool, server)).isGreaterThan(before);
    }
  }

  private static int connectionOfNextPing(Client pool, WireServer server) {
    OpMsg answer = pool.send(server.name(), ping()).block(TIMEOUT);
    assertThat(answer).isNotNull();
    return answer.body().getInt32("connection").getValue();
  }

  @ParameterizedTest
  @EnumSource
  void otherErrorsKeepConnectionsOpen(Kind kind) {
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    isHello(command)
                        ? ok()
                        : BsonDocument.parse("{ok: 0, code: 10107, errmsg: 'not primary'}"));
        Client pool = server.pool(kind, limits(0, 0, 0, TIMEOUT))) {
      for (int i = 0; i < 5; i++) {
        pool.send(server.name(), ping()).block(TIMEOUT);
      }

      assertThat(server.accepted()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "SHARED")
  void rejectedConnectionFailsWaitingRequests(Kind kind) {
    AtomicBoolean refusing = new AtomicBoolean();
    try (WireServer server =
            new WireServer(
                (connection, command) -> {
                  if (!refusing.get()) {
                    return ok();
                  }
                  return isHello(command)
                      ? BsonDocument.parse("{ok: 0, code: 1, errmsg: 'too many'}")
                      : null;
                });
        Client pool = server.pool(kind, limits(0, 0, 1, TIMEOUT))) {
      pool.send(server.name(), ping()).block(TIMEOUT);
      refusing.set(true);
      List<CompletableFuture<OpMsg>> pings = pings(pool, server, 10);

      // One request has the open connection. The other nine fail at once: they do not wait for a
      // connection that cannot be opened.
      await()
          .until(
              () ->
                  pings.stream().filter(CompletableFuture::isCompletedExceptionally).count() == 9);
      assertThat(pings.stream().filter(each -> !each.isDone()).findFirst())
          .hasValueSatisfying(each -> each.cancel(true));
      await().until(() -> server.open() == 0);
      refusing.set(false);
      pool.send(server.name(), ping()).block(TIMEOUT);
    }
  }

  /**
   * If the opening of one connection fails, the opening of the other connection ends, too.
   * Otherwise the next requests would wait for a connection of an earlier generation.
   */
  @Test
  void failedOpeningAbortsOtherOpenings() {
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    switch (connection) {
                      case 1 -> null;
                      case 2 -> BsonDocument.parse("{ok: 0, code: 1, errmsg: 'not yet'}");
                      default -> ok();
                    });
        Client pool = server.pool(Kind.EVENT_LOOP, limits(2, 0, 2, TIMEOUT))) {
      CompletableFuture<OpMsg> first = pool.send(server.name(), ping()).toFuture();
      await().until(() -> server.seen.size() == 1);
      CompletableFuture<OpMsg> second = pool.send(server.name(), ping()).toFuture();

      await().until(() -> first.isCompletedExceptionally() && second.isCompletedExceptionally());
      await().until(() -> server.open() == 0);
      assertAllAnswered(pings(pool, server, 2));
    }
  }
}
