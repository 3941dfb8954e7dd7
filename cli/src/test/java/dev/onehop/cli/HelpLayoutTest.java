package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

class HelpLayoutTest {

  /** The names of all commands, such as {@code bench collect}. */
  static List<String> commands() {
    List<String> names = new ArrayList<>();
    collect("", OneHopCommand.commandLine(), names);
    return names;
  }

  private static void collect(String prefix, CommandLine command, List<String> names) {
    command
        .getSubcommands()
        .forEach(
            (name, each) -> {
              names.add(prefix + name);
              collect(prefix + name + " ", each, names);
            });
  }

  private static String help(String command) {
    StringWriter help = new StringWriter();
    String[] words =
        Stream.concat(Arrays.stream(command.split(" ", -1)), Stream.of("--help"))
            .toArray(String[]::new);
    assertThat(OneHopCommand.commandLine().setOut(new PrintWriter(help)).execute(words)).isZero();
    return help.toString();
  }

  @ParameterizedTest
  @MethodSource("commands")
  void examplesPrecedeUsageWithoutLineBreaks(String command) {
    String help = help(command);
    CommandLine line = OneHopCommand.commandLine();
    for (String name : command.split(" ", -1)) {
      line = line.getSubcommands().get(name);
    }
    for (String example : line.getCommandSpec().usageMessage().footer()) {
      assertThat(help.lines()).contains(example);
    }
    if (help.contains("Examples:")) {
      assertThat(help.indexOf("Examples:")).isLessThan(help.indexOf("Usage: "));
    }
  }

  @Test
  void optionsAreInGroups() {
    assertThat(help("consume"))
        .containsSubsequence(
            "Usage: ",
            "\nOptions:\n",
            "--channels",
            "\nCluster:\n",
            "--url",
            "\nResults:\n",
            "--out",
            "\nHelp:\n",
            "--help");
  }
}
