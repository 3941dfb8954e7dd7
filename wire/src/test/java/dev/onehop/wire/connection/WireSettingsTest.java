package dev.onehop.wire.connection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.ServerAddressName;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

class WireSettingsTest {

  @Test
  void mappedAddressOverridesServerAddress() {
    InetSocketAddress listens = new InetSocketAddress(InetAddress.getLoopbackAddress(), 17018);
    WireSettings settings =
        WireSettings.plain(
            null, new BsonDocument(), Map.of(new ServerAddressName("127.27.2.1", 27018), listens));
    assertThat(settings.addresses().of(new ServerAddressName("127.27.2.1", 27018)).block())
        .containsExactly(listens);
    assertThat(settings.addresses().of(new ServerAddressName("127.27.3.1", 27018)).block())
        .containsExactly(new InetSocketAddress("127.27.3.1", 27018));
  }
}
