package com.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** Runs the same application on a replica set: nothing is routed, and the log says so once. */
@ShardedCluster
@ExtendWith(OutputCaptureExtension.class)
class ReplicaSetTest {
  @ParameterizedTest
  @CsvSource({"'',nothing will be routed", "?replicaSet=shard-1,nothing is routed"})
  void itRunsAsWithoutOneHop(
      String option, String said, SharedCluster cluster, CapturedOutput output) {
    String member = cluster.testbed().shardHosts().get("shard-1").replaceAll(".*/", "");
    String uri = "mongodb://" + member + "/" + cluster.database(option.isEmpty() ? "a" : "b") + option;
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(OrdersApplication.class)
            .web(WebApplicationType.NONE)
            .run("--spring.mongodb.uri=" + uri, "--spring.data.mongodb.uri=" + uri)) {
      Orders orders = context.getBean(Orders.class);
      orders.place(List.of(Order.of("ada", 1), Order.of("zoe", 2)));
      assertThatThrownBy(() -> orders.place(List.of(Order.of("ada", 3), Order.of("zoe", 0))))
          .isInstanceOf(IllegalArgumentException.class);

      assertThat(orders.of("ada")).extracting(Order::amount).containsExactly(1);
      assertThat(output).containsOnlyOnce(said);
    }
  }
}
