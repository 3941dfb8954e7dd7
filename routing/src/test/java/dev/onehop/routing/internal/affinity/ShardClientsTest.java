package dev.onehop.routing.internal.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.internal.affinity.ShardClients.ShardClient;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** No server is there: clients connect in the background, and here in vain. */
class ShardClientsTest {
  private final MongoClientSettings settings =
      MongoClientSettings.builder()
          .applyConnectionString(new ConnectionString("mongodb://127.0.0.1:2"))
          .build();
  private final ClusterPin pin =
      new ClusterPin(router -> Mono.never(), settings.getClusterSettings().getHosts());
  private final List<MongoClient> closed = new ArrayList<>();
  private final ShardClients clients = new ShardClients(settings, pin, this::connect);
  private final MongoClient nearest = clients.nearest();

  @AfterEach
  void close() {
    clients.close();
  }

  @Test
  void aShardWithoutAMongosBesideHasNoClient() {
    clients.update(affinity("a=127.0.0.9", "127.0.0.8:2"));

    assertThat(clients.find("a")).isNull();
    assertThat(clients.find("unknown")).isNull();
  }

  @Test
  void shardsBesideTheSameMongosesShareAClient() {
    clients.update(affinity("a=127.0.0.8,b=127.0.0.8,c=127.0.0.9", "127.0.0.8:2,127.0.0.9:2"));

    assertThat(clientOf("a")).isSameAs(clientOf("b")).isNotSameAs(clientOf("c"));
    assertThat(clientOf("a").client()).isNotSameAs(nearest);
  }

  @Test
  void theApplicationsOwnClientServesShardsBesideItsOwnMongos() {
    clients.update(affinity("a=127.0.0.1,b=127.0.0.1", "127.0.0.1:2"));

    assertThat(clientOf("a").client()).isSameAs(nearest);
    clients.update(affinity("a=127.0.0.9", "127.0.0.9:2"));
    assertThat(closed).isEmpty(); // it watches the seeds
  }

  @Test
  void whatDidNotChangeStaysAndTheRestIsClosed() {
    clients.update(affinity("a=127.0.0.8,b=127.0.0.9", "127.0.0.8:2,127.0.0.9:2"));
    ShardClient a = clientOf("a");
    ShardClient b = clientOf("b");

    for (int i = 0; i < 2; i++) {
      clients.update(affinity("a=127.0.0.8,b=127.0.0.7", "127.0.0.7:2,127.0.0.8:2,127.0.0.9:2"));

      // Not a's: it may still fall back on the mongoses that it knows.
      assertThat(closed).containsExactly(b.client());
      assertThat(clientOf("a")).isSameAs(a);
    }
  }

  @Test
  void aClientIsReplacedWhereItsFallbacksAreTooFewOrGone() {
    clients.update(affinity("a=127.0.0.8", "127.0.0.8:2"));
    ShardClient alone = clientOf("a");

    clients.update(affinity("a=127.0.0.8", "127.0.0.8:2,127.0.0.9:2"));
    assertThat(closed).containsExactly(alone.client());
    ShardClient withTwo = clientOf("a");
    clients.update(affinity("a=127.0.0.8", "127.0.0.7:2,127.0.0.8:2,127.0.0.9:2"));
    assertThat(closed).hasSize(1);
    clients.update(affinity("a=127.0.0.8", "127.0.0.7:2,127.0.0.8:2"));
    assertThat(closed).containsExactly(alone.client(), withTwo.client());
  }

  @Test
  void everyClientIsClosedOnce() {
    clients.update(affinity("a=127.0.0.8", "127.0.0.8:2"));
    clients.update(affinity("a=127.0.0.9", "127.0.0.9:2"));

    clients.close();

    assertThat(closed).hasSize(3).doesNotHaveDuplicates();
  }

  @Test
  void afterClosingThereAreNone() {
    clients.update(affinity("a=127.0.0.8", "127.0.0.8:2"));

    clients.close();

    assertThat(clients.find("a")).isNull();
    clients.update(affinity("a=127.0.0.8", "127.0.0.8:2"));
    assertThat(clients.find("a")).isNull();
  }

  /** An official client that says so when it is closed. */
  private MongoClient connect(MongoClientSettings asked) {
    MongoClient client = MongoClients.create(asked);
    return (MongoClient)
        Proxy.newProxyInstance(
            MongoClient.class.getClassLoader(),
            new Class<?>[] {MongoClient.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("close")) {
                closed.add((MongoClient) proxy);
              }
              return method.getName().equals("equals")
                  ? proxy == arguments[0]
                  : method.invoke(client, arguments);
            });
  }

  private ShardClient clientOf(String shard) {
    return Objects.requireNonNull(clients.find(shard));
  }

  /** An affinity of shards, as {@code id=host,...}, and mongoses. */
  private static Affinity affinity(String shards, String mongoses) {
    List<BsonDocument> shardEntries =
        List.of(shards.split(",")).stream()
            .map(each -> each.split("="))
            .map(
                each ->
                    new BsonDocument("_id", new BsonString(each[0]))
                        .append("host", new BsonString("rs-" + each[0] + "/" + each[1] + ":1")))
            .toList();
    List<BsonDocument> mongosEntries =
        List.of(mongoses.split(",")).stream()
            .filter(name -> !name.isEmpty())
            .map(
                name ->
                    new BsonDocument("_id", new BsonString(name))
                        .append("ping", new BsonDateTime(1_000)))
            .toList();
    return new AffinityRules(Map.of())
        .apply(
            ClusterMembers.of(shardEntries, mongosEntries, UnaryOperator.identity()),
            Map.of(),
            Map.of(),
            router -> true,
            Affinity.EMPTY);
  }
}
