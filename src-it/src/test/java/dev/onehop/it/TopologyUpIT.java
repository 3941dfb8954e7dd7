package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.cli.OneHopCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code onehop topology up} for a new user, and the commands that it suggests next. */
class TopologyUpIT {
  private static final String TOPOLOGY =
      """
      name: up-and-down
      regions: [here]
      hosts:
        a: {region: here, address: 127.42.0.1}
        b: {region: here, address: 127.42.0.2}
      roundTrips:
        here <-> here: 0
      client: a
      configServers: [a]
      shards:
        one: [a]
        two: [b]
      mongos: [a, b]
      """;

  @TempDir private static Path folder;
  private static String topology;

  private record CommandResult(int exitCode, String out, String err) {}

  @BeforeAll
  static void writeTopology() throws IOException {
    // bin/onehop usually sets this property. This test does not use the script, and Failsafe runs
    // it in the folder src-it.
    System.setProperty("onehop.home", Path.of("..").toRealPath().toString());
    topology = Files.writeString(folder.resolve("up-and-down.yaml"), TOPOLOGY).toString();
  }

  @BeforeEach
  void requireProcesses() {
    TestCluster.requireProcesses();
  }

  private static CommandResult onehop(List<String> arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(arguments.toArray(String[]::new));
    return new CommandResult(exitCode, out.toString(), err.toString());
  }

  /** The arguments of a printed command line. The last one may be in quotes. */
  private static List<String> arguments(String line) {
    String[] parts = line.strip().split(" '", -1);
    List<String> arguments = new ArrayList<>(List.of(parts[0].split(" ", -1)));
    if (parts.length > 1) {
      arguments.add(parts[1].replaceFirst("'$", ""));
    }
    return arguments.subList(1, arguments.size());
  }

  @Test
  void suggestedCommandsWork() throws IOException {
    CommandResult up = onehop(List.of("topology", "up", "--detach", "--topology", topology));
    try {
      assertThat(up.exitCode()).as(up.err()).isZero();
      String url = up.out().lines().findFirst().orElseThrow().replaceFirst("^URL: ", "");
      assertThat(up.out())
          .contains("bin/ycsb load targeted-async -P workloads/workloada -p mongodb.url=" + url)
          .contains("bin/ycsb run targeted-async -P workloads/workloada -p mongodb.url=" + url)
          .contains("bin/onehop bench scenario shard-freeze --url " + url)
          .contains("topology down up-and-down' stops it");

      Path log = Path.of(up.out().replaceFirst("(?s).*\nLog: (.*?)\n.*", "$1"));
      assertThat(up.out().contains("\nRouters: STAND-IN"))
          .as(up.out())
          .isEqualTo(Files.readString(log).contains("no mongos binary found"));

      String explain =
          up.out().lines().filter(line -> line.contains(" explain ")).findFirst().orElseThrow();
      CommandResult explained = onehop(arguments(explain));
      assertThat(explained.exitCode()).as(explained.err()).isZero();
      assertThat(explained.out()).contains("ycsb.usertable").containsAnyOf("one", "two");

      CommandResult status = onehop(List.of("topology", "status"));
      assertThat(status.exitCode()).isZero();
      assertThat(status.out()).contains("up-and-down: running").contains(url);
    } finally {
      CommandResult down = onehop(List.of("topology", "down", "up-and-down"));
      assertThat(down.out()).contains("Stopped up-and-down.");
    }
  }
}
