package dev.onehop.it.application;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.routing.OneHop;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

/**
 * Like {@link OrdersIT}, for an application with Spring, which reads the URI from its properties.
 */
@ShardedCluster
@SpringJUnitConfig
class SpringOrdersIT {
  @DynamicPropertySource
  static void mongo(DynamicPropertyRegistry properties) {
    SharedCluster cluster = SharedCluster.of(SpringOrdersIT.class);
    properties.add("mongo.uri", cluster::url);
    properties.add("mongo.database", cluster::database);
  }

  @Configuration
  static class Orders {
    @Bean
    OneHop oneHop(@Value("${mongo.uri}") String uri) {
      return OneHop.builder(uri).build();
    }

    @Bean
    MongoClient mongoClient(OneHop oneHop) {
      return MongoClients.create(oneHop.syncClientSettings());
    }

    @Bean
    MongoTemplate mongoTemplate(MongoClient client, @Value("${mongo.database}") String database) {
      return new MongoTemplate(client, database);
    }
  }

  @Test
  void ordersAreFound(@Autowired MongoTemplate template, SharedCluster cluster) {
    template.insert(new Order("1", "ada", 7, List.of()));

    assertThat(template.findAll(Order.class)).hasSize(1);
    assertThat(template.getDb().getName()).isEqualTo(cluster.database());
  }
}
