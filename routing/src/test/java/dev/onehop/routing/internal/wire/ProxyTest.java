package dev.onehop.routing.internal.wire;

import static dev.onehop.routing.internal.wire.WireServer.TIMEOUT;
import static dev.onehop.routing.internal.wire.WireServer.ok;
import static dev.onehop.routing.internal.wire.WireServer.ping;
import static dev.onehop.routing.internal.wire.WireServer.unlimited;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.routing.transport.ScriptedProxy;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Connections through a SOCKS5 proxy. */
class ProxyTest {

  private static WirePool pool(WireServer server, ScriptedProxy proxy, String user) {
    return server.pool(
        unlimited(),
        null,
        new WireSettings.Proxy(
            new ServerAddressName("127.0.0.1", proxy.port()), user, user == null ? null : "secret"),
        List.of());
  }

  @Test
  void theProxyLooksTheNameUp() {
    try (WireServer server = new WireServer((connection, command) -> ok());
        ScriptedProxy proxy = new ScriptedProxy(null, false);
        WirePool pool = pool(server, proxy, null)) {
      ServerAddressName name = new ServerAddressName("db.invalid", server.name().port());
      OpMsg answer = pool.send(name, ping()).block(TIMEOUT);

      assertThat(answer).isNotNull();
      assertThat(proxy.asked()).containsExactly(name.toString());
    }
  }

  @Test
  void theProxyMayWantAPassword() {
    try (WireServer server = new WireServer((connection, command) -> ok());
        ScriptedProxy proxy = new ScriptedProxy("user:secret", false);
        WirePool pool = pool(server, proxy, "user");
        WirePool stranger = pool(server, proxy, "stranger")) {
      assertThat(pool.send(server.name(), ping()).block(TIMEOUT)).isNotNull();

      assertThatThrownBy(() -> stranger.send(server.name(), ping()).block(TIMEOUT))
          .hasMessageContaining("cannot connect to " + server.name());
    }
  }

  @Test
  void aServerThatTheProxyCannotReachIsUnreachable() {
    try (WireServer server = new WireServer((connection, command) -> ok());
        ScriptedProxy proxy = new ScriptedProxy(null, true);
        WirePool pool = pool(server, proxy, null)) {
      assertThatThrownBy(() -> pool.send(server.name(), ping()).block(TIMEOUT))
          .hasMessageContaining("cannot connect to " + server.name());
      assertThat(server.accepted()).isZero();
    }
  }
}
