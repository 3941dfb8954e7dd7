package dev.onehop.routing.internal.router;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCommandException;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.CapturedLog;
import dev.onehop.wire.message.CommandFailure;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** A request that overflows the stack of a thread gets a reply. */
class StackOverflowReplyTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;
  private static final int DEEP = 200_000;

  @RegisterExtension
  private final CapturedLog reactor =
      new CapturedLog("reactor.core.Exceptions", "throwIfFatal detected a jvm fatal exception");

  @RegisterExtension
  private final CapturedLog failed =
      new CapturedLog(CommandFailure.class.getName(), "a command failed inside the");

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);

  @AfterEach
  void close() {
    cluster.close();
  }

  /**
   * A document that is nested more deeply than a thread's stack allows. The method uses no codec,
   * because a codec would recurse, too.
   */
  private static RawBsonDocument deep() {
    // Each level has its length, the type of an array, "$or", and the array's one document named
    // "0".
    int head = 4 + 1 + 4 + 4 + 1 + 2;
    int tail = 2;
    ByteBuffer bytes = ByteBuffer.allocate(DEEP * (head + tail) + 5).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < DEEP; i++) {
      int length = (DEEP - i) * (head + tail) + 5;
      bytes.putInt(length).put((byte) 4).put(new byte[] {'$', 'o', 'r', 0});
      bytes.putInt(length - 4 - 1 - 4 - 1).put((byte) 3).put(new byte[] {'0', 0});
    }
    bytes.putInt(5);
    while (bytes.hasRemaining()) {
      bytes.put((byte) 0);
    }
    return new RawBsonDocument(bytes.array());
  }

  /**
   * Reactor drops errors that it considers fatal, so the client would wait for ever. The first
   * command is decoded, and the second one is forwarded without decoding.
   */
  @Tag("newer-driver")
  @Test
  void reportsStackOverflow() {
    try (MongoClient client =
        OneHop.builder("mongodb://" + cluster.address("config") + "/")
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class)) {
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(
                () -> run(client.getDatabase("it").getCollection("c").find(deep()).first()))
            .isInstanceOf(MongoCommandException.class)
            .hasMessageContaining("StackOverflowError");
      }
      assertThat(run(client.getDatabase("it").getCollection("c").find(Filters.eq(5)).first()))
          .isNotNull();
    }
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
