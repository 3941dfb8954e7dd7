package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.TransportSettings;
import dev.onehop.wire.CapturedLog;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.util.List;
import org.bson.UuidRepresentation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/**
 * If settings do not allow routing in targeted mode, clients use the driver's transport, and the
 * reason is logged. Settings that cannot work are refused.
 */
class TargetedModeSettingsTest {
  @RegisterExtension private final CapturedLog log = new CapturedLog(OneHop.class.getName());

  @AfterEach
  void resetLogLevel() {
    ((Logger) LoggerFactory.getLogger(OneHop.class)).setLevel(null);
  }

  @ParameterizedTest
  @CsvSource({
    "mongodb://localhost:1/?directConnection=true, directConnection=true",
    "mongodb://localhost:1/?loadBalanced=true, loadBalanced=true",
    "mongodb://localhost:1/?replicaSet=rs0, replicaSet=rs0",
    "mongodb://%2Ftmp%2Fmongodb.sock/, Unix domain sockets"
  })
  void unroutableUriKeepsSettingsOfDriver(String uri, String why) {
    try (OneHop router = OneHop.builder(uri).build()) {
      MongoClientSettings plain =
          MongoClientSettings.builder().applyConnectionString(new ConnectionString(uri)).build();
      for (MongoClientSettings settings :
          new MongoClientSettings[] {router.clientSettings(), router.syncClientSettings()}) {
        assertThat(settings.getClusterSettings()).isEqualTo(plain.getClusterSettings());
        assertThat(settings.getTransportSettings()).isNull();
        assertThat(settings.getSslSettings()).isEqualTo(plain.getSslSettings());
      }
    }
    assertThat(log.events())
        .singleElement()
        .satisfies(
            event -> {
              assertThat(event.getLevel()).isEqualTo(Level.WARN);
              assertThat(event.getFormattedMessage()).contains("nothing is routed", why);
            });
  }

  /** A client that is not routed keeps the transport that the application has set. */
  @Test
  void unroutedClientKeepsItsTransport() {
    TransportSettings netty = TransportSettings.nettyBuilder().build();
    try (OneHop router =
        OneHop.builder("mongodb://localhost:1/?directConnection=true")
            .applyToClientSettings(settings -> settings.transportSettings(netty))
            .build()) {
      assertThat(router.clientSettings().getTransportSettings()).isSameAs(netty);
    }
  }

  @Test
  void singleMongosIsRouted() {
    try (OneHop router = OneHop.builder("mongodb://localhost:1/").build()) {
      assertThat(router.clientSettings().getClusterSettings().getMode())
          .isEqualTo(ClusterConnectionMode.SINGLE);
      assertThat(router.clientSettings().getClusterSettings().getHosts().toString())
          .contains("onehop-targeted");
    }
    assertThat(log.events()).isEmpty();
  }

  @Test
  void acceptsSettingsInsteadOfUri() {
    MongoClientSettings settings =
        MongoClientSettings.builder()
            .applyToClusterSettings(cluster -> cluster.hosts(List.of(new ServerAddress("x", 1))))
            .uuidRepresentation(UuidRepresentation.JAVA_LEGACY)
            .build();
    try (OneHop router = OneHop.builder(settings).build()) {
      assertThat(router.clientSettings().getClusterSettings().getHosts().toString())
          .contains("onehop-targeted");
      assertThat(router.clientSettings().getUuidRepresentation())
          .isEqualTo(UuidRepresentation.JAVA_LEGACY);
    }
  }

  /**
   * The transport need not be the application's choice: for example, Spring Boot sets a Netty
   * transport.
   */
  @Test
  void replacesTransportOfApplication() {
    ((Logger) LoggerFactory.getLogger(OneHop.class)).setLevel(Level.INFO);
    TransportSettings netty = TransportSettings.nettyBuilder().build();
    try (OneHop router =
        OneHop.builder("mongodb://localhost:1/")
            .applyToClientSettings(settings -> settings.transportSettings(netty))
            .build()) {
      assertThat(router.clientSettings().getTransportSettings()).isNotNull().isNotSameAs(netty);
      assertThat(router.syncClientSettings().getTransportSettings()).isNull();
    }
    assertThat(log.messages())
        .containsExactly(
            "targeted mode replaces the transport NettyTransportSettings with OneHop's transport");
  }

  /**
   * The router replaces the transport, and would lose its certificates. So it refuses a transport
   * with certificates.
   */
  @Test
  void rejectsTransportWithCertificates() throws Exception {
    SslContext certificates = SslContextBuilder.forClient().build();
    OneHop.Builder builder =
        OneHop.builder("mongodb://localhost:1/")
            .applyToClientSettings(
                settings ->
                    settings.transportSettings(
                        TransportSettings.nettyBuilder().sslContext(certificates).build()));

    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "targeted mode replaces the transport, so the SslContext of NettyTransportSettings"
                + " would have no effect")
        .hasMessageContaining("applyToSslSettings");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void acceptsProxy(boolean pipelined) {
    OneHop.Builder builder =
        OneHop.builder("mongodb://localhost:1/?proxyHost=localhost&proxyPort=2");
    if (pipelined) {
      builder.pipelining(settings -> {});
    }

    assertThatCode(() -> builder.build().close()).doesNotThrowAnyException();
  }
}
