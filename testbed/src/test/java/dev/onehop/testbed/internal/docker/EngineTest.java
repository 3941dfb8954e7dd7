package dev.onehop.testbed.internal.docker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineTest {
  @TempDir private Path folder;

  @Test
  void reportsMissingSocket() {
    Path nowhere = folder.resolve("docker.sock");

    assertThat(Engine.trouble(Map.of(), nowhere))
        .isEqualTo(
            "no Docker engine runs here: the socket %s does not exist; install Docker and start it (Debian:"
                + " apt-get install docker.io)",
            nowhere);
  }

  @Test
  void reportsSocketWithoutListener() throws IOException {
    Path left = Files.createFile(folder.resolve("docker.sock"));

    assertThat(Engine.trouble(Map.of("DOCKER_HOST", "unix://" + left), Path.of("/nowhere")))
        .startsWith("no Docker engine listens on " + left)
        .endsWith("start it (sudo systemctl start docker)");
  }

  @Test
  void acceptsSocketWithListener() throws IOException {
    Path socket = folder.resolve("docker.sock");
    try (ServerSocketChannel engine = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      engine.bind(UnixDomainSocketAddress.of(socket));

      assertThat(Engine.trouble(Map.of(), socket)).isNull();
    }
  }

  @Test
  void reportsMissingPermission() {
    assertThat(Engine.unreachable(Path.of("/var/run/docker.sock"), "Permission denied"))
        .isEqualTo(
            "no permission for /var/run/docker.sock; add this user to its group (sudo usermod -aG"
                + " docker $USER, then log in again)");
  }

  @Test
  void reportsRemoteEngine() {
    assertThat(Engine.trouble(Map.of("DOCKER_HOST", "tcp://far:2375"), Path.of("/nowhere")))
        .startsWith("DOCKER_HOST is tcp://far:2375");
  }
}
