package dev.onehop.wire.connection;

import static dev.onehop.wire.connection.WireServer.TIMEOUT;
import static dev.onehop.wire.connection.WireServer.ok;
import static dev.onehop.wire.connection.WireServer.ping;
import static dev.onehop.wire.connection.WireServer.unlimited;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.wire.ScriptedProxy;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.WireServer.Client;
import dev.onehop.wire.connection.WireServer.Kind;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Connections through a SOCKS5 proxy. */
class ProxyTest {

  private static Client pool(Kind kind, WireServer server, ScriptedProxy proxy, String user) {
    return server.pool(
        kind,
        unlimited(),
        null,
        new WireSettings.Proxy(
            new ServerAddressName("127.0.0.1", proxy.port()), user, user == null ? null : "secret"),
        List.of());
  }

  @ParameterizedTest
  @EnumSource
  void proxyResolvesHostName(Kind kind) {
    try (WireServer server = new WireServer((connection, command) -> ok());
        ScriptedProxy proxy = new ScriptedProxy(null, false);
        Client pool = pool(kind, server, proxy, null)) {
      ServerAddressName name = new ServerAddressName("db.invalid", server.name().port());
      OpMsg answer = pool.send(name, ping()).block(TIMEOUT);

      assertThat(answer).isNotNull();
      assertThat(proxy.requested()).containsExactly(name.toString());
    }
  }

  @ParameterizedTest
  @EnumSource
  void authenticatesWithProxy(Kind kind) {
    try (WireServer server = new WireServer((connection, command) -> ok());
        ScriptedProxy proxy = new ScriptedProxy("user:secret", false);
        Client pool = pool(kind, server, proxy, "user");
        Client stranger = pool(kind, server, proxy, "stranger")) {
      assertThat(pool.send(server.name(), ping()).block(TIMEOUT)).isNotNull();

      assertThatThrownBy(() -> stranger.send(server.name(), ping()).block(TIMEOUT))
          .hasMessageContaining("cannot connect to " + server.name());
    }
  }

  @ParameterizedTest
  @EnumSource
  void reportsServerThatProxyCannotReach(Kind kind) {
    try (WireServer server = new WireServer((connection, command) -> ok());
        ScriptedProxy proxy = new ScriptedProxy(null, true);
        Client pool = pool(kind, server, proxy, null)) {
      assertThatThrownBy(() -> pool.send(server.name(), ping()).block(TIMEOUT))
          .hasMessageContaining("cannot connect to " + server.name());
      assertThat(server.accepted()).isZero();
    }
  }
}
