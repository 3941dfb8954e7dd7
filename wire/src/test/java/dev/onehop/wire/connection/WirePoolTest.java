package dev.onehop.wire.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.handshake.HandshakeSettings;
import dev.onehop.wire.message.CommandHead;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireFrames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Servers that reply late, or with invalid messages. Every request ends. */
class WirePoolTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final OpMsg PING =
      OpMsg.command(
          new BsonDocument("ping", new BsonInt32(1)).append("$db", new BsonString("admin")));

  private final EventLoopGroup group = EventLoops.newGroup("wire-pool-test", 1);

  @AfterEach
  void stop() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void handshakeTimeoutReleasesConnection() {
    try (ScriptedPeer silent = silent();
        WirePool pool = pool(1, Duration.ofMillis(200))) {
      for (int i = 0; i < 3; i++) {
        // The pool allows a single connection, and the next request gets it.
        assertThatThrownBy(() -> pool.send(address(silent), PING).block(TIMEOUT))
            .hasRootCauseInstanceOf(IOException.class)
            .hasMessageContaining("has not finished the handshake in 200 ms");
      }
    }
  }

  @Test
  void reportsUnreadableReply() {
    assertUnreadable(ScriptedPeer.withHello(WirePoolTest::replyWithUnknownOpCode));
  }

  @Test
  void reportsUnreadableReplyToHello() {
    assertUnreadable(
        ScriptedPeer.raw(
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                channel
                    .pipeline()
                    .addLast(
                        new WireFrames(),
                        new SimpleChannelInboundHandler<ByteBuf>() {
                          @Override
                          protected void channelRead0(
                              ChannelHandlerContext context, ByteBuf frame) {
                            replyWithUnknownOpCode(OpMsg.decode(frame), context);
                          }
                        });
              }
            }));
  }

  private static void replyWithUnknownOpCode(OpMsg request, ChannelHandlerContext context) {
    ByteBuf reply = encodedAnswer(request);
    reply.setIntLE(12, 4711); // The op code.
    context.writeAndFlush(reply);
  }

  private static ByteBuf encodedAnswer(OpMsg request) {
    ByteBuf reply = UnpooledByteBufAllocator.DEFAULT.buffer();
    request.reply(1, new BsonDocument("ok", new BsonInt32(1))).encode(reply);
    return reply;
  }

  private void assertUnreadable(ScriptedPeer peer) {
    try (ScriptedPeer server = peer;
        WirePool pool = pool(1, TIMEOUT)) {
      assertThatThrownBy(() -> pool.send(address(server), PING).block(TIMEOUT))
          .hasMessageContaining("unreadable reply")
          .rootCause()
          .hasMessageContaining("op code 4711");
    }
  }

  @Test
  void unlimitedWaitDoesNotTimeOut() {
    try (ScriptedPeer silent = silent()) {
      EventLoopServerPool pool = pool(silent, Duration.ofMillis(-1));
      Outcomes first = new Outcomes();
      Outcomes second = new Outcomes();
      pool.take(null, exchange(pool, first));
      pool.take(null, exchange(pool, second));

      pool.sweep(System.nanoTime() + TimeUnit.HOURS.toNanos(1));
      assertThat(second.failure).isNotDone();

      pool.close();
      assertThat(second.failure).succeedsWithin(TIMEOUT);
    }
  }

  /**
   * After a cancellation in time, the pool reports no outcome, because the caller may have released
   * resources that the outcome needs.
   */
  @Test
  void cancelledRequestHasNoOutcome() {
    try (ScriptedPeer silent = silent()) {
      EventLoopServerPool pool = pool(silent, TIMEOUT);
      Outcomes outcome = new Outcomes();
      Exchange exchange = exchange(pool, outcome);
      pool.take(null, exchange);

      assertThat(exchange.cancel()).isTrue();
      assertThat(exchange.cancel()).isFalse();
      pool.close();
      group.next().submit(() -> {}).syncUninterruptibly();
      assertThat(outcome.failure).isNotDone();
    }
  }

  /**
   * Replies on two connections arrive in the same iteration of the event loop. The handler of the
   * first reply closes the other connection and opens a third one, which gets the closed file
   * descriptor. The pending event with this descriptor's number must not be applied to the third
   * connection.
   */
  @Test
  void eventOfClosedConnectionDoesNotAffectNewConnection() throws InterruptedException {
    BlockingQueue<Runnable> answers = new LinkedBlockingQueue<>();
    AtomicBoolean holding = new AtomicBoolean(true);
    try (ScriptedPeer peer =
            ScriptedPeer.withHello(
                (request, context) -> {
                  ByteBuf answer = encodedAnswer(request);
                  if (holding.get()) {
                    answers.add(() -> context.writeAndFlush(answer).syncUninterruptibly());
                  } else {
                    context.writeAndFlush(answer);
                  }
                });
        WirePool pool = new WirePool(group, settings(0, TIMEOUT, TIMEOUT))) {
      Mono<OpMsg> ping = pool.send(address(peer), PING);
      CompletableFuture<?> third =
          Mono.firstWithValue(ping, ping)
              // One ping takes the connection of the reply, the other ping opens a new connection.
              .flatMap(answer -> Mono.zip(ping, ping))
              .toFuture();
      Runnable first = answers.take();
      Runnable second = answers.take();
      holding.set(false);
      CountDownLatch begun = new CountDownLatch(1);
      CountDownLatch bothAnswered = new CountDownLatch(1);
      group
          .next()
          .execute(
              () -> {
                begun.countDown();
                awaitUninterruptibly(bothAnswered);
              });
      begun.await();
      try {
        first.run();
        second.run();
      } finally {
        bothAnswered.countDown();
      }

      assertThat(third).succeedsWithin(TIMEOUT);
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** On a connection of another event loop, a request would change threads twice. */
  @Test
  void requestUsesConnectionOfItsEventLoop() throws Exception {
    try (WireServer server = new WireServer((connection, command) -> WireServer.ok());
        WirePool pool = new WirePool(server.group, settings(2, TIMEOUT, TIMEOUT))) {
      EventLoop first = server.group.next();
      EventLoop second = server.group.next();
      assertThat(answeringLoop(pool, server, first)).isSameAs(first);

      await().untilAsserted(() -> assertThat(answeringLoop(pool, server, second)).isSameAs(second));
      for (int i = 0; i < 10; i++) {
        assertThat(answeringLoop(pool, server, first)).isSameAs(first);
        assertThat(answeringLoop(pool, server, second)).isSameAs(second);
      }
      assertThat(server.accepted()).isEqualTo(2);
    }
  }

  @Test
  void fullPoolUsesConnectionOfAnotherEventLoop() throws Exception {
    try (WireServer server = new WireServer((connection, command) -> WireServer.ok());
        WirePool pool = new WirePool(server.group, settings(1, TIMEOUT, TIMEOUT))) {
      EventLoop first = server.group.next();
      EventLoop second = server.group.next();
      assertThat(answeringLoop(pool, server, first)).isSameAs(first);
      for (int i = 0; i < 10; i++) {
        assertThat(answeringLoop(pool, server, second)).isSameAs(first);
      }
      assertThat(server.accepted()).isEqualTo(1);
    }
  }

  /** Sends a request from an event loop. Returns the event loop on which the reply arrives. */
  private static EventLoop answeringLoop(WirePool pool, WireServer server, EventLoop sender)
      throws Exception {
    CompletableFuture<EventLoop> answered = new CompletableFuture<>();
    sender.execute(
        () -> {
          ByteBuf message = UnpooledByteBufAllocator.DEFAULT.buffer();
          PING.encode(message);
          CommandHead head = CommandHead.read(message);
          pool.exchange(
              server.name(),
              sender,
              message,
              Objects.requireNonNull(head),
              new Exchange.Outcome() {
                @Override
                public void replied(ByteBuf reply) {
                  server.group.forEach(
                      each -> {
                        if (each.inEventLoop()) {
                          answered.complete((EventLoop) each);
                        }
                      });
                }

                @Override
                public void sent() {
                  answered.completeExceptionally(new AssertionError("sent"));
                }

                @Override
                public void failed(Throwable cause) {
                  answered.completeExceptionally(cause);
                }
              });
        });
    return answered.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
  }

  private static Exchange exchange(EventLoopServerPool pool, Outcomes outcome) {
    ByteBuf message = UnpooledByteBufAllocator.DEFAULT.buffer();
    PING.encode(message);
    return new Exchange(pool, message, true, SharingRules.Use.OWN, outcome);
  }

  private EventLoopServerPool pool(ScriptedPeer server, Duration maxWait) {
    WireSettings settings = settings(1, maxWait);
    return new EventLoopServerPool(
        address(server), group, settings, new ConnectionSlots(settings.pool()));
  }

  private WirePool pool(int connections, Duration maxWait) {
    return new WirePool(group, settings(connections, maxWait));
  }

  private static WireSettings settings(int connections, Duration maxWait) {
    return settings(connections, maxWait, Duration.ofMillis(200));
  }

  private static WireSettings settings(int connections, Duration maxWait, Duration opening) {
    return new WireSettings(
        WireSettings.Sockets.of(opening),
        new WireSettings.PoolLimits(connections, 0, 2, maxWait, Duration.ZERO, Duration.ZERO),
        null,
        new HandshakeSettings(new BsonDocument(), List.of(), null),
        List.of(),
        new Addresses(Addresses.Lookup.SYSTEM, Map.of()),
        null);
  }

  private static ScriptedPeer silent() {
    return ScriptedPeer.raw(
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            // The server accepts connections, and sends nothing.
          }
        });
  }

  private static ServerAddressName address(ScriptedPeer peer) {
    return ServerAddressName.parse(peer.url().replaceFirst("mongodb://([^/]*).*", "$1"));
  }

  private static final class Outcomes implements Exchange.Outcome {
    final CompletableFuture<Throwable> failure = new CompletableFuture<>();

    @Override
    public void replied(ByteBuf message) {
      failure.completeExceptionally(new AssertionError("replied"));
    }

    @Override
    public void sent() {
      failure.completeExceptionally(new AssertionError("sent"));
    }

    @Override
    public void failed(Throwable cause) {
      failure.complete(cause);
    }
  }
}
