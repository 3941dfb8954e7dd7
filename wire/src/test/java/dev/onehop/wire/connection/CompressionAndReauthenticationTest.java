package dev.onehop.wire.connection;

import static dev.onehop.wire.connection.WireServer.TIMEOUT;
import static dev.onehop.wire.connection.WireServer.ok;
import static dev.onehop.wire.connection.WireServer.ping;
import static dev.onehop.wire.connection.WireServer.unlimited;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.onehop.wire.connection.WireServer.Client;
import dev.onehop.wire.connection.WireServer.Kind;
import dev.onehop.wire.handshake.Mechanism;
import dev.onehop.wire.handshake.SaslMechanism;
import dev.onehop.wire.handshake.SaslSteps;
import dev.onehop.wire.message.OpMsg;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Compression, and a repeated authentication that the server requires. */
class CompressionAndReauthenticationTest {
  private static final Mechanism PLAIN =
      Mechanism.plain("user", "$external", "secret".toCharArray());
  private static final String REAUTHENTICATION_REQUIRED =
      "{ok: 0, code: 391, errmsg: 'reauthenticate'}";

  private static BsonDocument authenticated() {
    return BsonDocument.parse("{ok: 1, done: true, conversationId: 1}")
        .append("payload", new BsonBinary(new byte[0]));
  }

  private static List<String> commands(WireServer server) {
    return server.seen.stream().map(BsonDocument::getFirstKey).toList();
  }

  /** A mechanism with one message. To compute the message, it calls {@code call}. */
  private static Mechanism blocking(Callable<?> call) {
    return new SaslMechanism(
        "SLOW",
        "user",
        "$external",
        host ->
            new SaslSteps() {
              @Override
              public byte[] next(byte[] challenge) throws Exception {
                call.call();
                return new byte[0];
              }

              @Override
              public boolean isComplete() {
                return true;
              }
            });
  }

  /**
   * The commands that the server receives. A shared connection does not authenticate again: a
   * command that is refused on it goes to another connection.
   */
  private static List<String> commandsAfterReauthentication(Kind kind) {
    return kind == Kind.SHARED
        ? List.of("hello", "saslStart", "ping", "hello", "saslStart", "ping")
        : List.of("hello", "saslStart", "ping", "saslStart", "ping");
  }

  @ParameterizedTest
  @EnumSource
  void resendsCommandAfterReauthentication(Kind kind) {
    AtomicInteger pings = new AtomicInteger();
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    switch (command.getFirstKey()) {
                      case "saslStart" -> authenticated();
                      case "ping" ->
                          pings.incrementAndGet() == 1
                              ? BsonDocument.parse(REAUTHENTICATION_REQUIRED)
                              : ok();
                      default -> ok();
                    });
        Client pool = server.pool(kind, unlimited(), PLAIN, null, List.of())) {
      OpMsg answer = pool.send(server.name(), ping()).block(TIMEOUT);

      assertThat(answer).isNotNull();
      assertThat(answer.body()).containsEntry("ok", new BsonInt32(1));
      assertThat(commands(server)).isEqualTo(commandsAfterReauthentication(kind));
      assertThat(server.accepted()).isEqualTo(kind == Kind.SHARED ? 2 : 1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void blockingMechanismRunsOutsideEventLoop(Kind kind) {
    AtomicInteger pings = new AtomicInteger();
    List<String> threads = Collections.synchronizedList(new ArrayList<>());
    Mechanism mechanism = blocking(() -> threads.add(Thread.currentThread().getName()));
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    switch (command.getFirstKey()) {
                      case "saslStart" -> authenticated();
                      case "ping" ->
                          pings.incrementAndGet() == 1
                              ? BsonDocument.parse(REAUTHENTICATION_REQUIRED)
                              : ok();
                      default -> ok();
                    });
        Client pool = server.pool(kind, unlimited(), mechanism, null, List.of())) {
      OpMsg answer = pool.send(server.name(), ping()).block(TIMEOUT);

      assertThat(answer).isNotNull();
      assertThat(answer.body()).containsEntry("ok", new BsonInt32(1));
      assertThat(commands(server)).isEqualTo(commandsAfterReauthentication(kind));
      assertThat(threads)
          .hasSize(2)
          .allSatisfy(name -> assertThat(name).doesNotContain("wire-server-client"));
    }
  }

  /**
   * The cancellation of a request ends its login. Otherwise a login that never ends would occupy
   * the only connection.
   */
  @Test
  void cancellationStopsBlockedHandshake() {
    AtomicInteger calls = new AtomicInteger();
    Mechanism mechanism =
        blocking(
            () -> {
              if (calls.incrementAndGet() == 1) {
                new CountDownLatch(1).await();
              }
              return calls;
            });
    WireSettings.PoolLimits one =
        new WireSettings.PoolLimits(1, 0, 0, TIMEOUT, Duration.ZERO, Duration.ZERO);
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    command.getFirstKey().equals("saslStart") ? authenticated() : ok());
        Client pool = server.pool(Kind.BLOCKING, one, mechanism, null, List.of())) {
      CompletableFuture<OpMsg> first = pool.send(server.name(), ping()).toFuture();
      await().until(() -> calls.get() == 1);
      first.cancel(true);

      assertThat(pool.send(server.name(), ping()).block(TIMEOUT)).isNotNull();
      assertThat(calls).hasValue(2);
    }
  }

  /**
   * A refused command is sent again only once. If it is refused again, this refusal is its reply.
   */
  @ParameterizedTest
  @EnumSource
  void resendsCommandOnlyOnce(Kind kind) {
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    switch (command.getFirstKey()) {
                      case "saslStart" -> authenticated();
                      case "ping" -> BsonDocument.parse(REAUTHENTICATION_REQUIRED);
                      default -> ok();
                    });
        Client pool = server.pool(kind, unlimited(), PLAIN, null, List.of())) {
      OpMsg answer = pool.send(server.name(), ping()).block(TIMEOUT);

      assertThat(answer).isNotNull();
      assertThat(answer.body()).containsEntry("code", new BsonInt32(391));
      assertThat(commands(server)).hasSize(kind == Kind.SHARED ? 8 : 5);
    }
  }

  @ParameterizedTest
  @EnumSource
  void failedReauthenticationClosesConnection(Kind kind) {
    AtomicInteger starts = new AtomicInteger();
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    switch (command.getFirstKey()) {
                      case "saslStart" ->
                          starts.incrementAndGet() == 1
                              ? authenticated()
                              : BsonDocument.parse("{ok: 0, code: 18, errmsg: 'expired'}");
                      case "ping" -> BsonDocument.parse(REAUTHENTICATION_REQUIRED);
                      default -> ok();
                    });
        Client pool = server.pool(kind, unlimited(), PLAIN, null, List.of())) {
      assertThatThrownBy(() -> pool.send(server.name(), ping()).block(TIMEOUT))
          .isInstanceOf(ServerRefusedException.class)
          .hasMessageContaining("user user@$external: expired");
      await().until(() -> server.open() == 0);
    }
  }

  @ParameterizedTest
  @EnumSource
  void noReauthenticationWithoutUser(Kind kind) {
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    command.getFirstKey().equals("ping")
                        ? BsonDocument.parse(REAUTHENTICATION_REQUIRED)
                        : ok());
        Client pool = server.pool(kind, unlimited())) {
      OpMsg answer = pool.send(server.name(), ping()).block(TIMEOUT);

      assertThat(answer).isNotNull();
      assertThat(answer.body()).containsEntry("code", new BsonInt32(391));
      assertThat(commands(server)).containsExactly("hello", "ping");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "EVENT_LOOP, zlib, -1",
    "EVENT_LOOP, zlib, 9",
    "EVENT_LOOP, snappy, 0",
    "EVENT_LOOP, zstd, 3",
    "BLOCKING, zlib, -1",
    "BLOCKING, zlib, 9",
    "BLOCKING, snappy, 0",
    "BLOCKING, zstd, 3"
  })
  void compressesRequestsAndReplies(Kind kind, String name, int level) {
    Compressor compressor = new Compressor(name, level);
    // The pool classifies a request by its first part. This text is longer than that part.
    BsonString text = new BsonString("text ".repeat(500_000));
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    command.getFirstKey().equals("hello")
                        ? ok().append("compression", new BsonArray(List.of(new BsonString(name))))
                        : ok().append("echo", command.get("text", new BsonInt32(0))),
                compressor);
        Client pool = server.pool(kind, unlimited(), null, null, List.of(compressor))) {
      OpMsg answer =
          pool.send(
                  server.name(),
                  OpMsg.command(
                      new BsonDocument("echo", new BsonInt32(1))
                          .append("text", text)
                          .append("$db", new BsonString("it"))))
              .block(TIMEOUT);

      assertThat(answer).isNotNull();
      assertThat(answer.body()).containsEntry("echo", text);
      assertThat(server.opCodes).containsExactly(OpMsg.OP_MSG, CompressedMessages.OP_COMPRESSED);
    }
  }

  @ParameterizedTest
  @EnumSource
  void noCompressionWithoutServerSupport(Kind kind) {
    try (WireServer server = new WireServer((connection, command) -> ok());
        Client pool =
            server.pool(kind, unlimited(), null, null, List.of(new Compressor("zlib", -1)))) {
      pool.send(server.name(), ping()).block(TIMEOUT);

      assertThat(server.opCodes).containsOnly(OpMsg.OP_MSG);
    }
  }

  @ParameterizedTest
  @EnumSource
  void secretsAreNotCompressed(Kind kind) {
    try (WireServer server =
            new WireServer(
                (connection, command) ->
                    switch (command.getFirstKey()) {
                      case "hello" -> BsonDocument.parse("{ok: 1, compression: ['zlib']}");
                      case "saslStart" -> authenticated();
                      default -> ok();
                    });
        Client pool =
            server.pool(kind, unlimited(), PLAIN, null, List.of(new Compressor("zlib", -1)))) {
      for (String command : List.of("createUser", "updateUser")) {
        pool.send(
                server.name(),
                OpMsg.command(BsonDocument.parse("{" + command + ": 'u', pwd: 'p', $db: 'it'}")))
            .block(TIMEOUT);
      }

      assertThat(commands(server))
          .containsExactly("hello", "saslStart", "createUser", "updateUser");
      assertThat(server.opCodes).containsOnly(OpMsg.OP_MSG);
    }
  }
}
