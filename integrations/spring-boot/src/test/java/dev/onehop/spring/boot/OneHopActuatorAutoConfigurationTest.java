package dev.onehop.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.OneHop;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.actuate.info.Info;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class OneHopActuatorAutoConfigurationTest {
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(OneHopAutoConfigurationTest.CONFIGURATIONS)
          .withClassLoader(new FilteredClassLoader(MongoClient.class))
          .withConfiguration(AutoConfigurations.of(OneHopActuatorAutoConfiguration.class))
          .withPropertyValues(
              "spring.data.mongodb.uri=mongodb://localhost:1/?serverSelectionTimeoutMS=1",
              "management.endpoints.web.exposure.include=onehop");

  @Test
  void healthIsNeverDown() {
    application.run(
        context ->
            assertThat(context.getBean(HealthIndicator.class).health())
                .satisfies(health -> assertThat(health.getStatus()).isEqualTo(Status.UNKNOWN))
                .satisfies(
                    health ->
                        assertThat(health.getDetails())
                            .containsEntry("mode", "targeted")
                            .containsKey("missing")));
    application
        .withPropertyValues("management.health.onehop.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
  }

  @Test
  void infoNamesMode() {
    application.run(
        context -> {
          Info.Builder info = new Info.Builder();
          context.getBean(InfoContributor.class).contribute(info);
          assertThat(info.build().getDetails().toString())
              .isEqualTo("{onehop={mode=targeted, routing=true}}");
        });
  }

  @Test
  void endpointExistsOnlyIfExposed() {
    application.run(context -> assertThat(context).hasSingleBean(OneHopEndpoint.class));
    application
        .withPropertyValues("management.endpoints.web.exposure.include=health")
        .run(context -> assertThat(context).doesNotHaveBean(OneHopEndpoint.class));
  }

  @Test
  void endpointSwitchesRouting() {
    application.run(
        context -> {
          OneHopEndpoint endpoint = context.getBean(OneHopEndpoint.class);
          assertThat(endpoint.setRouting(false)).containsEntry("routing", false);
          assertThat(context.getBean(OneHop.class).status().isRouting()).isFalse();
          assertThat(endpoint.setRouting(true)).containsEntry("routing", true);
        });
  }

  @Test
  void endpointRejectsInvalidRequests() {
    application
        .withPropertyValues("onehop.enabled=false")
        .run(
            context -> {
              OneHopEndpoint endpoint = context.getBean(OneHopEndpoint.class);
              assertThatThrownBy(() -> endpoint.setRouting(true))
                  .isInstanceOf(InvalidEndpointRequestException.class)
                  .hasMessage("nothing is routed: onehop.enabled=false");
              for (String filter : List.of("", "{", "x")) {
                assertThatThrownBy(() -> endpoint.explain("shop.orders", filter))
                    .as(filter)
                    .isInstanceOf(InvalidEndpointRequestException.class);
              }
              assertThatThrownBy(() -> endpoint.explain("orders", "{}"))
                  .isInstanceOf(InvalidEndpointRequestException.class);
              assertThat(endpoint.explain("shop.orders", "{}"))
                  .containsEntry("decision", "no-table")
                  .containsEntry("reason", "nothing is routed: onehop.enabled=false");
            });
  }
}
