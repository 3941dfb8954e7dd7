package dev.onehop.spring.boot;

import com.mongodb.MongoDriverInformation;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.routing.OneHop;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Creates the application's clients in place of Boot. They keep the names of Boot's beans, use
 * Boot's settings and share one router. Clients that the application creates itself stay unchanged.
 */
@AutoConfiguration(
    beforeName = {
      "org.springframework.boot.autoconfigure.mongo.MongoAutoConfiguration",
      "org.springframework.boot.autoconfigure.mongo.MongoReactiveAutoConfiguration",
      "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration",
      "org.springframework.boot.mongodb.autoconfigure.MongoReactiveAutoConfiguration"
    })
public class OneHopAutoConfiguration {
  /** The driver information that Boot sends to servers. */
  private static final MongoDriverInformation BOOT =
      MongoDriverInformation.builder().driverName("spring-boot").build();

  /** The synchronous client. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(MongoClient.class)
  @ConditionalOnMissingBean(
      value = MongoClient.class,
      type = "org.springframework.data.mongodb.MongoDatabaseFactory")
  @Import(RouterConfiguration.class)
  static class SyncClient {
    @Bean
    MongoClient mongo(OneHop oneHop) {
      return MongoClients.create(oneHop.syncClientSettings(), BOOT);
    }
  }

  /** The reactive client. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(com.mongodb.reactivestreams.client.MongoClient.class)
  @ConditionalOnMissingBean(com.mongodb.reactivestreams.client.MongoClient.class)
  @Import(RouterConfiguration.class)
  static class ReactiveClient {
    @Bean
    com.mongodb.reactivestreams.client.MongoClient reactiveStreamsMongoClient(OneHop oneHop) {
      return com.mongodb.reactivestreams.client.MongoClients.create(oneHop.clientSettings(), BOOT);
    }
  }
}
