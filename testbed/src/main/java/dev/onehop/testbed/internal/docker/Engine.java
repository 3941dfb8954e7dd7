package dev.onehop.testbed.internal.docker;

import com.github.dockerjava.api.DockerClient;
import dev.onehop.testbed.TestbedException;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;

/** Connects to the Docker engine. If that fails, the message is one line with the reason. */
public final class Engine {
  private static final Path SOCKET = Path.of("/var/run/docker.sock");

  private Engine() {}

  /**
   * Returns the engine's client.
   *
   * @throws TestbedException if there is no engine, or this user may not use it
   */
  public static DockerClient client() {
    // This check runs before the check of Testcontainers, whose message is long and the same for
    // all reasons.
    @Nullable String trouble = trouble(System.getenv(), SOCKET);
    if (trouble != null) {
      throw new TestbedException(trouble);
    }
    try {
      return DockerClientFactory.instance().client();
    } catch (RuntimeException e) {
      throw new TestbedException("Docker can't be used: " + reason(e), e);
    }
  }

  /**
   * Returns the problem with the engine's socket, or null if a connection to the socket succeeds.
   *
   * @param environment the environment variables; DOCKER_HOST may name another socket
   * @param usual the default path of the socket
   */
  static @Nullable String trouble(Map<String, String> environment, Path usual) {
    String host = environment.getOrDefault("DOCKER_HOST", "");
    if (!host.isEmpty() && !host.startsWith("unix://")) {
      return ("DOCKER_HOST is %s, but only programs on the engine's machine can reach the servers;"
              + " unset DOCKER_HOST, or run the tests on that machine")
          .formatted(host);
    }
    Path socket = host.isEmpty() ? usual : Path.of(host.substring("unix://".length()));
    if (!Files.exists(socket)) {
      return "no Docker engine runs here: the socket %s does not exist; install Docker and start it (Debian: apt-get install docker.io)"
          .formatted(socket);
    }
    try (SocketChannel probe = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
      return probe.isConnected() ? null : unreachable(socket, "no connection");
    } catch (IOException e) {
      return unreachable(socket, String.valueOf(e.getMessage()));
    }
  }

  static String unreachable(Path socket, String reason) {
    return reason.toLowerCase(Locale.ROOT).contains("permission denied")
        ? "no permission for %s; add this user to its group (sudo usermod -aG docker $USER, then log in again)"
            .formatted(socket)
        : "no Docker engine listens on %s (%s); start it (sudo systemctl start docker)"
            .formatted(socket, reason);
  }

  /** Returns the first line of the message of the innermost cause that has a message. */
  static String reason(Throwable e) {
    String said = String.valueOf(e.getMessage());
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause.getMessage() != null && !cause.getMessage().isBlank()) {
        said = cause.getMessage();
      }
    }
    return said.lines().findFirst().orElse("").strip();
  }
}
