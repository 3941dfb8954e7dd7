package dev.onehop.routing.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Sessions that another client has started: refused as ever, but counted. No server is needed. */
class UnknownSessionTest {
  private static final String NOWHERE = "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100";
  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  private static Map<String, BiFunction<MongoCollection<Document>, ClientSession, Publisher<?>>>
      calls() {
    return Map.of(
        "insertOne", (collection, session) -> collection.insertOne(session, new Document()),
        "countDocuments", (collection, session) -> collection.countDocuments(session),
        "find", (collection, session) -> collection.find(session, Filters.eq(1)),
        "insertMany",
            (collection, session) -> collection.insertMany(session, List.of(new Document())),
        "bulkWrite",
            (collection, session) ->
                collection.bulkWrite(session, List.of(new InsertOneModel<>(new Document()))));
  }

  static List<String> operations() {
    return calls().keySet().stream().sorted().toList();
  }

  @ParameterizedTest
  @MethodSource("operations")
  void refusedAndCounted(String operation) {
    try (MongoClient other = MongoClients.create(NOWHERE);
        MongoClient client = OneHop.builder(NOWHERE).meterRegistry(meters).reactiveClient();
        ClientSession session = Mono.from(other.startSession()).block(TIMEOUT)) {
      MongoCollection<Document> collection = client.getDatabase("test").getCollection("documents");

      Publisher<?> call = calls().get(operation).apply(collection, session);
      Throwable failure =
          Flux.from(call).then(Mono.<Throwable>empty()).onErrorResume(Mono::just).block(TIMEOUT);

      assertThat(failure).hasMessageContaining("ClientSession from same MongoClient");
      assertThat(count(operation)).isEqualTo(1);
    }
  }

  @Test
  void firstResultsAreCounted() {
    try (MongoClient other = MongoClients.create(NOWHERE);
        MongoClient client = OneHop.builder(NOWHERE).meterRegistry(meters).reactiveClient();
        ClientSession session = Mono.from(other.startSession()).block(TIMEOUT)) {
      Mono.from(client.getDatabase("test").getCollection("documents").find(session).first())
          .onErrorComplete()
          .block(TIMEOUT);

      assertThat(count("find")).isEqualTo(1);
    }
  }

  private long count(String operation) {
    return meters
        .get("onehop.operations")
        .tag("operation", operation)
        .tag("decision", "unknown-session")
        .tag("outcome", "failed")
        .timer()
        .count();
  }
}
