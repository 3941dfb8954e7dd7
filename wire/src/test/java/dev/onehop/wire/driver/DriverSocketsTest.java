package dev.onehop.wire.driver;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.connection.Compressor;
import dev.onehop.wire.connection.WireSettings;
import dev.onehop.wire.handshake.ClientMetadata;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The driver's settings apply to OneHop's own sockets. */
class DriverSocketsTest {
  private final EventLoopGroup group = EventLoops.newGroup("driver-sockets-test", 1);

  @AfterEach
  void stop() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private WireSettings of(String options) {
    return DriverSockets.of(
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString("mongodb://h/?" + options))
            .build(),
        new Carrier(group, null));
  }

  @Test
  void readsPoolLimits() {
    assertThat(
            of("maxPoolSize=7&maxConnecting=3&minPoolSize=2&waitQueueTimeoutMS=11&maxIdleTimeMS=12&maxLifeTimeMS=13")
                .pool())
        .isEqualTo(
            new WireSettings.PoolLimits(
                7, 2, 3, Duration.ofMillis(11), Duration.ofMillis(12), Duration.ofMillis(13)));
  }

  @Test
  void readsCompressorsWithLevels() {
    WireSettings settings = of("compressors=zstd,zlib,snappy&zlibCompressionLevel=4");

    assertThat(settings.compressors())
        .containsExactly(
            new Compressor("zstd", 3), new Compressor("zlib", 4), new Compressor("snappy", -1));
    assertThat(settings.handshake().compressors()).containsExactly("zstd", "zlib", "snappy");
  }

  @Test
  void readsProxyAndConnectTimeout() {
    WireSettings.Sockets sockets =
        of("connectTimeoutMS=14&proxyHost=p&proxyUsername=u&proxyPassword=w").sockets();

    assertThat(sockets.connectTimeout()).isEqualTo(Duration.ofMillis(14));
    assertThat(sockets.proxy())
        .isEqualTo(new WireSettings.Proxy(new ServerAddressName("p", 1080), "u", "w"));
  }

  @Test
  void helloNamesApplicationDriverAndOneHop() {
    BsonDocument client = of("appName=shop").handshake().client();

    assertThat(client.getDocument("application")).isEqualTo(BsonDocument.parse("{name: 'shop'}"));
    assertThat(client.getDocument("driver").getString("name").getValue())
        .isEqualTo("mongo-java-driver|OneHop");
    assertThat(client.getDocument("driver").getString("version").getValue())
        .matches("5\\.\\d+\\.\\d+\\|" + ClientMetadata.version());
  }
}
