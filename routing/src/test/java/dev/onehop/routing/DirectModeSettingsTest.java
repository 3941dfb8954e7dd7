package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.connection.TransportSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.time.Duration;
import java.util.Properties;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Settings that direct mode cannot use are refused when the client is built. */
class DirectModeSettingsTest {
  private static final String URI = "mongodb://localhost:1/";

  private static void assertRejected(OneHop.Builder builder, String part) {
    assertThatThrownBy(builder.routing(RoutingMode.DIRECT)::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("direct mode")
        .hasMessageContaining(part);
  }

  private static OneHop.Builder with(Consumer<OneHop.Builder> change) {
    OneHop.Builder builder = OneHop.builder(URI);
    change.accept(builder);
    return builder;
  }

  @Test
  void rejectsSettingsOfTargetedMode() {
    assertRejected(with(b -> b.shardRouters("s0", "a:1")), "shardRouters can be set in targeted");
    assertRejected(with(b -> b.measureRoundTrips(false)), "measureRoundTrips");
    assertRejected(with(b -> b.historyInterval(Duration.ofSeconds(1))), "historyInterval");
    assertRejected(
        with(b -> b.shardRouters("s0", "a:1").historyInterval(Duration.ofSeconds(1))),
        "shardRouters, historyInterval");
  }

  @ParameterizedTest
  @CsvSource({
    "onehop.shardRouters, s0=a:1, shardRouters",
    "onehop.measureRoundTrips, true, measureRoundTrips",
    "onehop.historyInterval, 1s, historyInterval"
  })
  void rejectsPropertiesOfTargetedMode(String key, String value, String name) {
    Properties properties = new Properties();
    properties.setProperty(key, value);

    assertRejected(OneHop.builder(URI + "?" + key + "=" + value), name);
    assertRejected(OneHop.builder(URI).properties(properties), name);
  }

  /**
   * Direct mode ignores a system property that it cannot use, because the property may be for other
   * clients of the application.
   */
  @Test
  void ignoresSystemProperty() {
    System.setProperty("onehop.measureRoundTrips", "false");
    try {
      assertThatCode(
              () ->
                  OneHop.builder(URI).routing(RoutingMode.DIRECT).client(MongoClient.class).close())
          .doesNotThrowAnyException();
    } finally {
      System.clearProperty("onehop.measureRoundTrips");
    }
  }

  @Test
  void rejectsUnsupportedConnectionSettings() throws Exception {
    SslContext certificates = SslContextBuilder.forClient().build();
    assertRejected(
        with(
            b ->
                b.applyToClientSettings(
                    s ->
                        s.transportSettings(
                            TransportSettings.nettyBuilder().sslContext(certificates).build()))),
        "transport");
    assertRejected(OneHop.builder("mongodb://localhost:1/?loadBalanced=true"), "load balancer");
    assertRejected(OneHop.builder("mongodb://%2Ftmp%2Fmongodb.sock/"), "Unix domain sockets");
  }

  @Test
  void acceptsSupportedSettings() {
    assertThatCode(
            () ->
                OneHop.builder(URI + "?onehop.hostMapping=a=b&onehop.refreshInterval=5s")
                    .routing(RoutingMode.DIRECT)
                    .client(MongoClient.class)
                    .close())
        .doesNotThrowAnyException();
  }
}
