package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Isolated("changes onehop.home")
class UnreachableHostsTest {
  private static final @Nullable String HOME = System.getProperty("onehop.home");

  @TempDir private Path folder;

  @BeforeEach
  void setHome() throws IOException {
    System.setProperty("onehop.home", Path.of("..").toRealPath().toString());
  }

  @AfterEach
  void restoreHome() {
    if (HOME == null) {
      System.clearProperty("onehop.home");
    } else {
      System.setProperty("onehop.home", HOME);
    }
  }

  private static String closedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return "127.0.0.1:" + socket.getLocalPort();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "copy --from URL --to URL --timeout 300ms",
        "copy reverse --from URL --to URL --timeout 300ms",
        "copy status --to URL --timeout 300ms",
        "copy finish --to URL --timeout 300ms",
        "verify --from URL --to URL --timeout 300ms",
        "explain --url URL a.b {} --timeout 300ms",
        "resync run --method logical --url URL --to 127.0.0.1:2",
        "resync run --url URL --to 127.0.0.1:2 --dbpath OUT/db",
        "bench --url URL --out OUT --quick",
        "consume --url URL --out OUT --quick",
        "propagate --url URL --out OUT --quick"
      })
  void reportsHostInOneShortLine(String arguments) throws IOException {
    String host = closedPort();
    List<String> command =
        List.of(
            arguments
                .replace("URL", "mongodb://" + host + "/?serverSelectionTimeoutMS=300")
                .replace("OUT", folder.toString())
                .split(" ", -1));
    StringWriter err = new StringWriter();

    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(new StringWriter()))
            .setErr(new PrintWriter(err))
            .execute(command.toArray(String[]::new));

    assertThat(err.toString())
        .startsWith("onehop: ")
        .contains(host)
        .containsAnyOf("Connection refused", "within 300 ms")
        .hasLineCount(1)
        .doesNotContain("cluster state", "ServerSelector", "{");
    assertThat(err.toString().length()).as(err.toString()).isLessThan(300);
    assertThat(exitCode).isEqualTo(1);
  }
}
