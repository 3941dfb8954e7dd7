package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCredential;
import com.mongodb.ServerAddress;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Direct mode with a host mapping: OneHop uses other names of the servers than the cluster's
 * metadata. Each server is behind a separate link, and all connections go over the links.
 */
@Tag("full")
class DirectHostMappingIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  /** Filters for the documents of shard {@code one} and of shard {@code two}. */
  private static final List<Bson> SHARDS = List.of(Filters.lt("_id", 100), Filters.gte("_id", 100));

  private static SecuredCluster cluster;
  private final Map<String, CuttingLink> links = new LinkedHashMap<>();

  @BeforeAll
  static void start() {
    cluster = SecuredCluster.start();
    cluster.shardCollection("mapped", 100);
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @BeforeEach
  void link() {
    for (String server : List.of("config", "one", "two")) {
      int port = Integer.parseInt(cluster.address(server).replaceFirst(".*:", ""));
      links.put(server, CuttingLink.uncut("127.0.0.1", port));
    }
  }

  @AfterEach
  void unlink() {
    links.values().forEach(CuttingLink::close);
  }

  private String mapped(String server) {
    return "127.0.0.1:" + links.get(server).port();
  }

  private Map<String, String> mapping() {
    return links.keySet().stream().collect(Collectors.toMap(cluster::address, this::mapped));
  }

  @Test
  void usesMappedNameOfEveryServer() {
    try (OneHop router =
        builder(cluster.url() + "?replicaSet=config&serverSelectionTimeoutMS=3000")
            .hostMapping(mapping())
            .build()) {
      assertAllConnectionsUseLinks(router);
    }
  }

  @Test
  void readsMappingFromUri() {
    String mapping =
        mapping().entrySet().stream()
            .map(each -> each.getKey() + "=" + each.getValue())
            .collect(Collectors.joining(","));
    try (OneHop router =
        builder(
                cluster.url()
                    + "?replicaSet=config&serverSelectionTimeoutMS=3000&onehop.hostMapping="
                    + mapping)
            .build()) {
      assertAllConnectionsUseLinks(router);
    }
  }

  /**
   * OneHop reaches the config server by the address in the URI. It then connects to the mapped
   * name, where no server listens.
   */
  @Test
  void failsIfMappedConfigServerIsUnreachable() {
    Map<String, String> mapping = mapping();
    String unreachable = mapped("config");
    links.remove("config").close();
    try (MongoClient client =
        builder(cluster.url() + "?replicaSet=config&serverSelectionTimeoutMS=2000")
            .hostMapping(mapping)
            .client(MongoClient.class)) {
      assertThatThrownBy(() -> run(collection(client).find().first()))
          .hasMessageContaining(unreachable + " is unreachable");
    }
  }

  private void assertAllConnectionsUseLinks(OneHop router) {
    try (MongoClient client = MongoClients.create(router.clientSettings())) {
      assertAllConnectionsUseLinks(router, client);
    }
  }

  private void assertAllConnectionsUseLinks(OneHop router, MongoClient client) {
    MongoCollection<Document> collection = collection(client);
    for (Bson shard : SHARDS) {
      run(collection.deleteMany(shard));
    }
    Flux.range(0, 200)
        .flatMap(n -> collection.insertOne(new Document("_id", n)), 16)
        .blockLast(TIMEOUT);
    for (Bson shard : SHARDS) {
      assertThat(run(collection.countDocuments(shard))).isEqualTo(100);
    }
    assertThat(router.explain(collection.getNamespace().getFullName(), Filters.eq(5)).routers())
        .containsExactly(new ServerAddress(mapped("one")));
    assertThat(router.explain(collection.getNamespace().getFullName(), Filters.eq(150)).routers())
        .containsExactly(new ServerAddress(mapped("two")));

    String gone = mapped("one");
    links.remove("one").close();

    assertThatThrownBy(() -> run(collection.find(Filters.eq(5)).first()))
        .hasMessageContaining(gone);
    assertThat(run(collection.find(Filters.eq(150)).first())).containsEntry("_id", 150);
  }

  private static OneHop.Builder builder(String uri) {
    return OneHop.builder(uri)
        .applyToClientSettings(
            settings ->
                settings.credential(
                    MongoCredential.createCredential(
                        RealMongod.ADMIN, "admin", RealMongod.PASSWORD.toCharArray())))
        .routing(RoutingMode.DIRECT);
  }

  private static MongoCollection<Document> collection(MongoClient client) {
    return client.getDatabase("it").getCollection("mapped");
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
