package dev.onehop.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.internal.MongoClientImpl;
import dev.onehop.routing.OneHop;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import org.bson.UuidRepresentation;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.mongo.MongoAutoConfiguration;
import org.springframework.boot.autoconfigure.mongo.MongoClientSettingsBuilderCustomizer;
import org.springframework.boot.autoconfigure.mongo.MongoConnectionDetails;
import org.springframework.boot.autoconfigure.mongo.MongoReactiveAutoConfiguration;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

class OneHopAutoConfigurationTest {
  static final AutoConfigurations CONFIGURATIONS =
      AutoConfigurations.of(
          OneHopAutoConfiguration.class,
          MongoAutoConfiguration.class,
          MongoReactiveAutoConfiguration.class);

  /** An application without the reactive driver. */
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(CONFIGURATIONS)
          .withClassLoader(
              new FilteredClassLoader(com.mongodb.reactivestreams.client.MongoClient.class))
          .withPropertyValues("spring.data.mongodb.uri=mongodb://localhost:1/shop");

  private static MongoClientSettings settings(MongoClient client) {
    return ((MongoClientImpl) client).getSettings();
  }

  @Test
  void bothClientsUseOneRouter() {
    application
        .withClassLoader(getClass().getClassLoader())
        .run(
            context -> {
              assertThat(context).hasSingleBean(OneHop.class).hasSingleBean(MongoClient.class);
              assertThat(
                      context.getBeansOfType(com.mongodb.reactivestreams.client.MongoClient.class))
                  .containsOnlyKeys("reactiveStreamsMongoClient");
              assertThat(settings(context.getBean("mongo", MongoClient.class)).toString())
                  .contains("onehop-targeted");
            });
  }

  @Test
  void synchronousApplicationHasOneClient() {
    application.run(
        context -> {
          assertThat(context).hasSingleBean(MongoClient.class).hasSingleBean(OneHop.class);
          assertThat(context).doesNotHaveBean("reactiveStreamsMongoClient");
        });
  }

  @Test
  void reactiveApplicationHasOneClient() {
    application
        .withClassLoader(new FilteredClassLoader(MongoClient.class))
        .run(
            context ->
                assertThat(context)
                    .hasSingleBean(OneHop.class)
                    .hasSingleBean(com.mongodb.reactivestreams.client.MongoClient.class)
                    .doesNotHaveBean("mongo"));
  }

  @Test
  void appliesCustomizersInOrderAndUuidProperty() {
    application
        .withPropertyValues("spring.data.mongodb.uuid-representation=standard")
        .withUserConfiguration(Customizers.class)
        .run(
            context -> {
              assertThat(context.getBean(Customizers.class).order).startsWith("first", "second");
              MongoClientSettings settings = settings(context.getBean(MongoClient.class));
              assertThat(settings.getApplicationName()).isEqualTo("second");
              assertThat(settings.getUuidRepresentation()).isEqualTo(UuidRepresentation.STANDARD);
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class Customizers {
    private final List<String> order = new ArrayList<>();

    @Bean
    @Order(20)
    MongoClientSettingsBuilderCustomizer second() {
      return settings -> settings.applicationName(noted("second"));
    }

    @Bean
    @Order(10)
    MongoClientSettingsBuilderCustomizer first() {
      return settings -> settings.applicationName(noted("first"));
    }

    private String noted(String name) {
      order.add(name);
      return name;
    }
  }

  @Test
  void connectionDetailsOverrideProperties() {
    application
        .withBean(
            MongoConnectionDetails.class,
            () -> () -> new ConnectionString("mongodb://localhost:2/?appName=elsewhere"))
        .run(
            context ->
                assertThat(settings(context.getBean(MongoClient.class)).getApplicationName())
                    .isEqualTo("elsewhere"));
  }

  @Test
  void routerUsesSslBundle() throws IOException {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      application
          .withBean(MongoConnectionDetails.class, () -> new WithBundle(server.getLocalPort()))
          .run(
              context -> {
                try (Socket connection = server.accept()) {
                  assertThat(connection.getInputStream().read())
                      .as("a record of a TLS handshake")
                      .isEqualTo(22);
                }
              });
    }
  }

  private record WithBundle(int port) implements MongoConnectionDetails {
    @Override
    public ConnectionString getConnectionString() {
      return new ConnectionString("mongodb://127.0.0.1:" + port + "/");
    }

    @Override
    public SslBundle getSslBundle() {
      return SslBundle.of(SslStoreBundle.NONE);
    }
  }

  @Test
  void usesSettingsOfApplication() {
    application
        .withBean(
            MongoClientSettings.class,
            () -> MongoClientSettings.builder().applicationName("own").build())
        .run(
            context ->
                assertThat(settings(context.getBean(MongoClient.class)))
                    .satisfies(s -> assertThat(s.getApplicationName()).isEqualTo("own"))
                    .satisfies(s -> assertThat(s.toString()).contains("onehop-targeted")));
  }

  @Test
  void createsNoRouterForClientOfApplication() {
    application
        .withBean(MongoClient.class, () -> MongoClients.create("mongodb://localhost:1/"))
        .run(context -> assertThat(context).doesNotHaveBean(OneHop.class));
  }

  @Test
  void clientsUseRouterOfApplication() {
    application
        .withBean("own", OneHop.class, () -> OneHop.builder("mongodb://localhost:1/").build())
        .run(
            context -> {
              assertThat(context).hasSingleBean(OneHop.class).hasBean("own");
              assertThat(settings(context.getBean(MongoClient.class)).toString())
                  .contains("onehop-targeted");
            });
  }

  @Test
  void clientsBypassDisabledRouter() {
    application
        .withPropertyValues("onehop.enabled=false")
        .run(
            context -> {
              assertThat(context.getBean(OneHop.class).status().missing())
                  .containsExactly("nothing is routed: onehop.enabled=false");
              assertThat(settings(context.getBean(MongoClient.class)).toString())
                  .contains("localhost:1")
                  .doesNotContain("onehop-targeted");
            });
  }

  @Test
  void bindsPropertiesLikeBoot() {
    application
        .withPropertyValues("onehop.mode=direct", "onehop.refresh-interval=7s")
        .run(
            context ->
                assertThat(context.getBean(OneHop.class).status().mode()).isEqualTo("direct"));
    application
        .withPropertyValues("onehop.refreshInterval=soon")
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .isInstanceOf(DateTimeParseException.class));
    application
        .withPropertyValues(
            "onehop.pipelining.enabled=true", "onehop.pipelining.sockets-per-server=0")
        .run(context -> assertThat(context).hasFailed());
  }
}
