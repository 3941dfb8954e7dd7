package dev.onehop.routing.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.event.ServerHeartbeatFailedEvent;
import com.mongodb.event.ServerMonitorListener;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.message.OpMsg;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.util.Throwables;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Peers that send wrong replies, send nothing, or use another protocol. Operations fail with an
 * error that names the peer, and none hangs.
 */
class MisbehavingPeerTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  @AfterEach
  void close() {
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              assertThat(gauge(PipeliningMeters.SOCKETS)).isZero();
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 15, -1, Integer.MIN_VALUE, 48_000_001, Integer.MAX_VALUE})
  void reportsInvalidFrameLength(int length) {
    assertFindFails(
        (request, context) ->
            context.writeAndFlush(header(length, request.requestId(), OpMsg.OP_MSG)),
        length >= 4 && length < 16 ? "bytes" : "protocol does not allow");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 2004, 2005, 2010, 9999})
  void reportsUnknownOpCode(int opCode) {
    assertFindFails(
        (request, context) -> context.writeAndFlush(header(16, request.requestId(), opCode)),
        "op code " + opCode);
  }

  @Test
  void reportsReplyToUnknownRequest() {
    assertFindFails(
        (request, context) -> {
          ByteBuf reply = context.alloc().buffer();
          request.withRequestId(123_456).reply(1, new BsonDocument()).encode(reply);
          context.writeAndFlush(reply);
        },
        "sent a reply to request 123456");
  }

  @Test
  void failsAfterSecondReply() {
    assertFindFails(
        (request, context) -> {
          ByteBuf reply = context.alloc().buffer();
          request.reply(1, new BsonDocument("ok", new BsonInt32(0))).encode(reply);
          context.write(reply.copy());
          context.writeAndFlush(reply);
        },
        null);
  }

  @Test
  void reportsClosedConnection() {
    assertFindFails((request, context) -> context.close(), "closed the connection");
  }

  /**
   * The driver loses the cause of a failed heartbeat if the failure comes before the driver's
   * thread waits for the reply. The test therefore needs only one heartbeat that reports the cause.
   */
  @Tag("newer-driver")
  @Test
  void reportsPeerWithOtherProtocol() {
    Queue<String> failures = new ConcurrentLinkedQueue<>();
    ServerMonitorListener monitor =
        new ServerMonitorListener() {
          @Override
          public void serverHeartbeatFailed(ServerHeartbeatFailedEvent event) {
            failures.add(Throwables.getStackTrace(event.getThrowable()));
          }
        };
    try (ScriptedPeer peer =
            ScriptedPeer.raw(
                connections(
                    new ChannelInboundHandlerAdapter() {
                      @Override
                      public void channelActive(ChannelHandlerContext context) {
                        context.writeAndFlush(
                            Unpooled.copiedBuffer(
                                "HTTP/1.1 400 Bad Request\r\n\r\n", StandardCharsets.US_ASCII));
                      }
                    }));
        MongoClient client = client(peer, 2_000, "&heartbeatFrequencyMS=500", monitor)) {
      assertThatThrownBy(() -> find(client)).isInstanceOf(MongoTimeoutException.class);
      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () ->
                  assertThat(failures)
                      .anySatisfy(
                          failure -> assertThat(failure).contains("The reply message length")));
    }
  }

  @Test
  void timesOutOnSilentPeer() {
    try (ScriptedPeer peer = ScriptedPeer.raw(connections(new ChannelInboundHandlerAdapter()));
        MongoClient client = client(peer, 4_000, "&connectTimeoutMS=500")) {
      // The driver's monitor times out first.
      assertThatThrownBy(() -> find(client)).hasMessageContaining("Timeout while receiving");
    }
  }

  @Test
  void waitingOperationsTimeOutWithoutReplies() {
    AtomicInteger inserts = new AtomicInteger();
    try (ScriptedPeer peer =
            ScriptedPeer.withHello((request, context) -> inserts.incrementAndGet());
        MongoClient client = client(peer, "&maxPoolSize=2&waitQueueTimeoutMS=3000")) {
      MongoCollection<Document> collection = client.getDatabase("d").getCollection("c");
      Flux<?> unanswered =
          Flux.range(0, 10)
              // The pauses are so long that the sockets count as slow when the later inserts come.
              .delayElements(Duration.ofMillis(200))
              .flatMap(n -> collection.insertOne(new Document()), 10);

      // The first inserts are sent and get no reply. The others time out while they wait for a
      // connection, as with any other transport.
      assertThatThrownBy(() -> unanswered.blockLast(TIMEOUT))
          .isInstanceOf(MongoException.class)
          .hasMessageContaining("timed out after 3000 ms while waiting for a connection");
      assertThat(inserts).hasPositiveValue().hasValueLessThan(10);
      assertThat(gauge(PipeliningMeters.SOCKETS)).isLessThanOrEqualTo(2 + 2);
    }
  }

  @Test
  void timeoutMsAppliesWithoutReplies() {
    try (ScriptedPeer peer = ScriptedPeer.withHello((request, context) -> {});
        MongoClient client = client(peer, "&timeoutMS=1500")) {
      assertThatThrownBy(() -> find(client)).isInstanceOf(MongoTimeoutException.class);
    }
  }

  @Test
  void delayedRequestGetsSeparateSocket() {
    AtomicInteger inserts = new AtomicInteger();
    try (ScriptedPeer peer =
            ScriptedPeer.withHello(
                (request, context) -> {
                  // The first two inserts never get a reply.
                  if (inserts.incrementAndGet() > 2) {
                    ScriptedPeer.acknowledge(request, context);
                  }
                });
        MongoClient client = client(peer)) {
      MongoCollection<Document> collection = client.getDatabase("d").getCollection("c");
      Mono<Long> stuck =
          Flux.range(0, 2)
              .flatMap(n -> Mono.from(collection.insertOne(new Document())).onErrorComplete(), 2)
              .count();
      Disposable first = stuck.subscribe();
      await().atMost(TIMEOUT).until(() -> inserts.get() == 2);

      Mono.from(collection.insertOne(new Document())).block(TIMEOUT);
      assertThat(inserts).hasValue(3);
      first.dispose();
    }
  }

  @Test
  void brokenSocketFailsOnlyItsRequests() {
    AtomicInteger requests = new AtomicInteger();
    try (ScriptedPeer peer =
            ScriptedPeer.withHello(
                (request, context) -> {
                  if (request.commandName().equals("ping")) {
                    ScriptedPeer.acknowledge(request, context);
                  } else if (requests.incrementAndGet() == 1) {
                    context.executor().schedule(() -> context.close(), 300, TimeUnit.MILLISECONDS);
                  } else {
                    context
                        .executor()
                        .schedule(
                            () -> ScriptedPeer.acknowledge(request, context),
                            600,
                            TimeUnit.MILLISECONDS);
                  }
                });
        MongoClient client = client(peer, "&retryWrites=false&retryReads=false")) {
      MongoCollection<Document> collection = client.getDatabase("d").getCollection("c");
      // These parallel commands open two sockets.
      Flux.range(0, 2)
          .flatMap(n -> client.getDatabase("d").runCommand(new Document("ping", 1)), 2)
          .blockLast(TIMEOUT);

      long failed =
          Flux.range(0, 2)
              .flatMap(
                  n ->
                      Mono.from(collection.insertOne(new Document()))
                          .map(inserted -> 0)
                          .onErrorReturn(MongoSocketException.class, 1),
                  2)
              .filter(outcome -> outcome == 1)
              .count()
              .block(TIMEOUT);

      assertThat(failed).isEqualTo(1);
    }
  }

  private void assertFindFails(ScriptedPeer.Script script, @Nullable String words) {
    try (ScriptedPeer peer = ScriptedPeer.withHello(script);
        MongoClient client = client(peer, "&retryReads=false")) {
      if (words == null) {
        assertThatThrownBy(() -> find(client)).isNotNull();
      } else {
        assertThatThrownBy(() -> find(client))
            .isInstanceOfSatisfying(
                MongoException.class,
                e -> {
                  if (e instanceof MongoSocketException) {
                    assertThat(e).hasStackTraceContaining(words);
                  } else {
                    assertThat(e.getCode()).isEqualTo(17);
                    assertThat(e).hasMessageContaining(words);
                  }
                });
      }
    }
  }

  private MongoClient client(ScriptedPeer peer) {
    return client(peer, "");
  }

  private MongoClient client(ScriptedPeer peer, String options) {
    return client(peer, 10_000, options);
  }

  private MongoClient client(
      ScriptedPeer peer, int selectionMillis, String options, ServerMonitorListener... listeners) {
    return OneHop.builder(peer.url() + "&serverSelectionTimeoutMS=" + selectionMillis + options)
        .applyToClientSettings(
            settings ->
                settings.applyToServerSettings(
                    server -> List.of(listeners).forEach(server::addServerMonitorListener)))
        .routing(RoutingMode.NONE)
        .pipelining(sockets -> sockets.socketsPerServer(2))
        .meterRegistry(meters)
        .client(MongoClient.class);
  }

  private static Object find(MongoClient client) {
    return Mono.from(client.getDatabase("d").getCollection("c").find().first()).block(TIMEOUT);
  }

  private double gauge(PipeliningMeters meter) {
    return meters.find(meter.meterName()).gauges().stream().mapToDouble(g -> g.value()).sum();
  }

  private static ByteBuf header(int length, int responseTo, int opCode) {
    return Unpooled.buffer(16)
        .writeIntLE(length)
        .writeIntLE(1)
        .writeIntLE(responseTo)
        .writeIntLE(opCode);
  }

  private static ChannelInitializer<Channel> connections(ChannelInboundHandlerAdapter handler) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        channel
            .pipeline()
            .addLast(
                new ChannelInboundHandlerAdapter() {
                  @Override
                  public void channelActive(ChannelHandlerContext context) throws Exception {
                    handler.channelActive(context);
                  }
                });
      }
    };
  }
}
