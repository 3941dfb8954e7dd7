package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** Ordered batches in direct mode. Each statement belongs to another shard than the one before. */
class LongBatchesTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);
  private MongoClient client;

  @BeforeEach
  void start() {
    client =
        OneHop.builder("mongodb://" + cluster.address("config") + "/")
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class);
  }

  @AfterEach
  void stop() {
    client.close();
    cluster.close();
  }

  /** Negative numbers belong to one shard, positive numbers to the other. */
  private static int alternating(int i) {
    return i % 2 == 0 ? i + 1 : -i;
  }

  @Test
  void executesLongInsert() {
    int documents = 8_000;

    assertThat(
            run(collection()
                    .insertMany(
                        IntStream.range(0, documents)
                            .mapToObj(i -> new Document("_id", alternating(i)))
                            .toList()))
                .getInsertedIds())
        .hasSize(documents);
    for (String shard : List.of("s0", "s1")) {
      assertThat(sent(shard, "insert", "documents")).hasSize(documents / 2);
    }
  }

  @Test
  void executesLongBulkWrite() {
    int updates = 4_000;

    assertThat(
            run(collection()
                    .bulkWrite(
                        IntStream.range(0, updates)
                            .mapToObj(
                                i ->
                                    new UpdateOneModel<Document>(
                                        Filters.eq(alternating(i)), Updates.inc("n", 1)))
                            .toList()))
                .getMatchedCount())
        .isEqualTo(updates);
    for (String shard : List.of("s0", "s1")) {
      assertThat(sent(shard, "update", "updates")).hasSize(updates / 2);
    }
  }

  private List<BsonValue> sent(String shard, String command, String list) {
    return cluster.seen(shard, command).stream()
        .map(BsonDocument::asDocument)
        .flatMap(each -> each.getArray(list).stream())
        .toList();
  }

  private MongoCollection<Document> collection() {
    return client.getDatabase("it").getCollection("c");
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
