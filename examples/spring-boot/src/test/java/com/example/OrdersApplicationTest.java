package com.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.routing.OneHop;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.ApplicationContext;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * The application on a cluster of three shards. The first shard owns the orders of ada, and the
 * last shard owns the orders of zoe.
 */
@ShardedCluster
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
class OrdersApplicationTest {
  private static final SharedCluster CLUSTER = SharedCluster.of(OrdersApplicationTest.class);

  @Autowired Orders orders;
  @Autowired OneHop oneHop;
  @Autowired MeterRegistry meters;
  @Autowired ApplicationContext context;
  @Autowired MongoTemplate template;

  private Actuator actuator;

  @DynamicPropertySource
  static void mongo(DynamicPropertyRegistry properties) {
    // Spring Boot 4 uses the first property. Spring Boot 3.5 uses the second property.
    properties.add("spring.mongodb.uri", () -> CLUSTER.url() + "/" + CLUSTER.database());
    properties.add("spring.data.mongodb.uri", () -> CLUSTER.url() + "/" + CLUSTER.database());
  }

  @BeforeAll
  static void shard() {
    CLUSTER.shardCollection(
        "orders",
        BsonDocument.parse("{customer: 1}"),
        List.of(BsonDocument.parse("{customer: 'h'}"), BsonDocument.parse("{customer: 'q'}")));
  }

  @BeforeEach
  void ready() {
    actuator = new Actuator(context);
    assertThat(oneHop.ready(Duration.ofSeconds(20), CLUSTER.namespace("orders")).missing())
        .isEmpty();
    template.remove(Order.class).all();
  }

  private long routed(String decision) {
    return meters.find("onehop.operations").tag("decision", decision).timers().stream()
        .mapToLong(Timer::count)
        .sum();
  }

  @Test
  void operationsGoToTheOwnersOfTheOrders() {
    long before = routed("owner");
    template.insert(Order.of("ada", 10));
    template.insert(Order.of("zoe", 20));

    assertThat(orders.of("zoe")).extracting(Order::amount).containsExactly(20);
    assertThat(routed("owner")).isEqualTo(before + 3);
  }

  @Test
  void thereIsOneClient() {
    assertThat(context.getBeanNamesForType(com.mongodb.client.MongoClient.class))
        .containsExactly("mongo");
    assertThat(context.containsBean("reactiveStreamsMongoClient")).isFalse();
  }

  @Test
  void uuidsAreAsBootsPropertySays() {
    template.insert(Order.of("ada", 10));

    BsonDocument stored =
        template.getCollection("orders").withDocumentClass(BsonDocument.class).find().first();
    assertThat(stored.getBinary("_id").getType()).isEqualTo((byte) 4);
  }

  @Test
  void transactionsCommitAndRollBack() {
    orders.place(List.of(Order.of("ada", 1), Order.of("zoe", 2)));
    assertThatThrownBy(() -> orders.place(List.of(Order.of("ada", 3), Order.of("zoe", 0))))
        .isInstanceOf(IllegalArgumentException.class);

    assertThat(orders.of("ada")).extracting(Order::amount).containsExactly(1);
    assertThat(orders.of("zoe")).extracting(Order::amount).containsExactly(2);
    assertThat(routed("transaction")).isPositive();
  }

  @Test
  void healthInfoAndMetricsAreOfTheRoutedClient() {
    orders.of("ada");

    assertThat(actuator.get("health"))
        .contains("\"status\":\"UP\"", "\"onehop\":{", "\"mode\":\"targeted\"", "\"maxWireVersion\":");
    assertThat(actuator.get("info")).contains("\"onehop\":{\"mode\":\"targeted\",\"routing\":true");
    assertThat(meters.get("mongodb.driver.commands").timers())
        .extracting(timer -> timer.getId().getTag("server.address"))
        .allSatisfy(server -> assertThat(server).startsWith("onehop-targeted"));
  }

  @Test
  void theEndpointShowsRoutesAndTurnsThemOff() {
    assertThat(actuator.get("onehop"))
        .contains("\"shards\":{\"shard-1\":[\"127.33.0.1:", "\"tableAges\":{\"" + CLUSTER.namespace("orders"));
    assertThat(actuator.get("onehop/" + CLUSTER.namespace("orders") + "?filter=%7Bcustomer:'zoe'%7D"))
        .contains("\"decision\":\"owner\"", "\"shards\":[\"shard-3\"]");

    assertThat(actuator.post("onehop", "{\"routing\": false}")).contains("\"routing\":false");
    long before = routed("owner");
    orders.of("zoe");
    assertThat(routed("owner")).isEqualTo(before);

    assertThat(actuator.post("onehop", "{\"routing\": true}")).contains("\"routing\":true");
    orders.of("zoe");
    assertThat(routed("owner")).isEqualTo(before + 1);
  }
}
