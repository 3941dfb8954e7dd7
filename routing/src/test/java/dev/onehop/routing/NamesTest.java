package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.spi.dns.InetAddressResolver;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.CapturedLog;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/**
 * The router looks up names of servers as the driver does. A slow lookup delays no operation on
 * another server.
 */
class NamesTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  @RegisterExtension
  private final CapturedLog unanswered =
      new CapturedLog("dev.onehop.shards.command.ClusterCheck", "shard s0 can't be checked");

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0, this::name);
  private final CountDownLatch unblocked = new CountDownLatch(1);

  @AfterEach
  void stop() {
    unblocked.countDown();
    cluster.close();
  }

  private String name(String server) {
    return server + ".test.invalid:" + cluster.address(server).port();
  }

  private MongoClient direct(
      String options, InetAddressResolver resolver, UnaryOperator<OneHop.Builder> more) {
    return more.apply(
            OneHop.builder("mongodb://" + name("config") + "/?" + options)
                .routing(RoutingMode.DIRECT)
                .applyToClientSettings(settings -> settings.inetAddressResolver(resolver)))
        .client(MongoClient.class);
  }

  private static CompletableFuture<Document> find(MongoClient client, int id) {
    MongoCollection<Document> collection = client.getDatabase("it").getCollection("c");
    return Mono.from(collection.find(Filters.eq(id)).first()).toFuture();
  }

  private static Document from(String server) {
    return new Document("from", server);
  }

  /**
   * Returns two addresses of which the first one refuses connections. An example is a name with an
   * IPv6 address whose server listens only on IPv4.
   */
  private static List<InetAddress> firstAddressRefuses(String host) throws UnknownHostException {
    return List.of(address(host, 2), address(host, 1));
  }

  private static InetAddress address(String host, int last) throws UnknownHostException {
    return InetAddress.getByAddress(host, new byte[] {127, 0, 0, (byte) last});
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void triesEveryAddressOfName(boolean pipelined) {
    try (MongoClient client =
        direct(
            "",
            NamesTest::firstAddressRefuses,
            builder -> pipelined ? builder.pipelining(settings -> {}) : builder)) {
      assertThat(find(client, -1)).succeedsWithin(TIMEOUT).isEqualTo(from("s0"));
      assertThat(find(client, 1)).succeedsWithin(TIMEOUT).isEqualTo(from("s1"));
    }
  }

  @Test
  void triesEveryAddressWithoutRouting() {
    try (MongoClient client =
        OneHop.builder("mongodb://" + name("s0") + "/?directConnection=true")
            .applyToClientSettings(
                settings -> settings.inetAddressResolver(NamesTest::firstAddressRefuses))
            .routing(RoutingMode.NONE)
            .pipelining(settings -> {})
            .client(MongoClient.class)) {
      assertThat(find(client, 1)).succeedsWithin(TIMEOUT).isEqualTo(from("s0"));
    }
  }

  /**
   * Blocks the lookups of one server's name, except the lookups on the threads of the driver's
   * monitors.
   */
  private List<InetAddress> blocked(String server, String host) throws UnknownHostException {
    if (host.startsWith(server) && !Thread.currentThread().getName().startsWith("cluster-")) {
      try {
        unblocked.await();
      } catch (InterruptedException e) {
        throw new UnknownHostException(host);
      }
    }
    return List.of(address(host, 1));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void slowLookupDoesNotDelayOtherServers(boolean pipelined) {
    try (MongoClient client =
        direct(
            "connectTimeoutMS=60000",
            host -> blocked("s0", host),
            builder -> pipelined ? builder.pipelining(settings -> {}) : builder)) {
      // There are more operations than event loops, so blocked event loops would delay the others.
      List<CompletableFuture<Document>> waiting =
          IntStream.range(1, 40).mapToObj(id -> find(client, -id)).toList();
      for (int id = 1; id < 40; id++) {
        assertThat(find(client, id)).succeedsWithin(TIMEOUT).isEqualTo(from("s1"));
      }
      assertThat(waiting).noneMatch(CompletableFuture::isDone);

      unblocked.countDown();
      waiting.forEach(each -> assertThat(each).succeedsWithin(TIMEOUT).isEqualTo(from("s0")));
    }
  }

  @Test
  void connectTimeoutIncludesLookup() {
    try (MongoClient client =
        direct(
            "connectTimeoutMS=300&retryWrites=false",
            host -> blocked("s0", host),
            builder -> builder)) {
      CompletableFuture<Document> write =
          Mono.from(
                  client
                      .getDatabase("it")
                      .getCollection("c")
                      .findOneAndUpdate(Filters.eq(-1), new Document("$set", new Document("n", 1))))
              .toFuture();
      assertThatThrownBy(() -> write.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
          .hasStackTraceContaining("s0.test.invalid")
          .hasStackTraceContaining("300 ms");
    }
  }
}
