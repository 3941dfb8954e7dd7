package dev.onehop.routing.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

class WireSettingsTest {

  @Test
  void aServerIsReachedByItsAddressUnlessAnotherWayIsKnown() {
    InetSocketAddress listens = new InetSocketAddress(InetAddress.getLoopbackAddress(), 17018);
    WireSettings settings =
        WireSettings.plain(
            null, new BsonDocument(), Map.of(new ServerAddressName("127.27.2.1", 27018), listens));
    assertThat(settings.way(new ServerAddressName("127.27.2.1", 27018))).isEqualTo(listens);
    assertThat(settings.way(new ServerAddressName("127.27.3.1", 27018)))
        .isEqualTo(new InetSocketAddress("127.27.3.1", 27018));
  }
}
