package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoInterruptedException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import dev.onehop.shards.command.ScriptedCluster;
import java.util.UUID;
import org.bson.Document;
import org.bson.UuidRepresentation;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Explanations by a router, with the application's codecs, and without a server. */
class ExplainTest {
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);

  @AfterEach
  void close() {
    cluster.release();
    cluster.close();
  }

  @Test
  void encodesUuidsLikeClients() {
    try (OneHop router =
        builder("")
            .applyToClientSettings(s -> s.uuidRepresentation(UuidRepresentation.STANDARD))
            .build()) {
      Bson filter = Filters.and(Filters.eq(5), Filters.eq("u", UUID.randomUUID()));
      Document document = new Document("_id", 5).append("u", UUID.randomUUID());

      assertThat(router.explain("it.c", filter).shards()).containsExactly("s1");
      assertThat(router.explain("it.c", new InsertOneModel<>(document)).shards())
          .containsExactly("s1");
    }
  }

  @Test
  void timesOutWithoutReply() {
    cluster.hold("m0", command -> true);
    try (OneHop router = builder("serverSelectionTimeoutMS=300").build()) {
      assertThatThrownBy(() -> router.explain("it.c", Filters.eq(5)))
          .isInstanceOf(MongoTimeoutException.class)
          .hasMessageContaining("has not replied yet");
    }
  }

  @Test
  void interruptThrowsExceptionOfDriver() {
    cluster.hold("m0", command -> true);
    try (OneHop router = builder("").build()) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> router.explain("it.c", Filters.eq(5)))
          .isInstanceOf(MongoInterruptedException.class);
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  private OneHop.Builder builder(String options) {
    return OneHop.builder("mongodb://" + cluster.address("m0") + "/?" + options);
  }
}
