package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command lines that end before the command is connected to a server. */
class VerifyCommandTest {
  private static final List<String> BOTH =
      List.of("--from", "mongodb://a.invalid", "--to", "mongodb://b.invalid");

  private static void assertRefused(String why, List<String> before, String... arguments) {
    assertFails(2, why, before, arguments);
  }

  private static void assertFails(
      int expected, String why, List<String> before, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    List<String> all = new ArrayList<>(List.of("verify"));
    all.addAll(before);
    all.addAll(List.of(arguments));
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(all.toArray(String[]::new));
    assertThat(err.toString()).startsWith("onehop: ").contains(why).hasLineCount(1);
    assertThat(err.toString()).doesNotContain("secret");
    assertThat(out.toString()).isEmpty();
    assertThat(exitCode).isEqualTo(expected);
  }

  @Test
  void requiresSourceAndDestination() {
    assertRefused("--to", List.of("--from", "mongodb://a.invalid"));
    assertRefused("--from", List.of("--to", "mongodb://b.invalid"));
  }

  @Test
  void rejectsInvalidUrlsAndPasswords() {
    assertRefused(
        "--from: leave the password out",
        List.of("--from", "mongodb://u:secret@a.invalid", "--to", "mongodb://b.invalid"));
    assertRefused(
        "set ONEHOP_TO_PASSWORD",
        List.of("--from", "mongodb://a.invalid", "--to", "mongodb://u@b.invalid"));
    assertRefused("--from: ", List.of("--from", "a.invalid", "--to", "mongodb://b.invalid"));
  }

  @Test
  void rejectsOptionsOutOfRange() {
    assertRefused("--settle", BOTH, "--settle", "2h");
    assertRefused("--settle", BOTH, "--settle", "-1s");
    assertRefused("--rate", BOTH, "--rate", "0");
    assertRefused("--rate", BOTH, "--rate", "NaN");
    assertRefused("--parallel", BOTH, "--parallel", "65");
    assertRefused("--details", BOTH, "--details", "-1");
    assertRefused("--timeout", BOTH, "--timeout", "0s");
  }

  @Test
  void rejectsUnusableStateFile(@TempDir Path folder) throws IOException {
    Path missing = folder.resolve("none/state");
    assertRefused(
        "--state " + missing + ": no such file or folder", BOTH, "--state", missing.toString());
    Path file = Files.createFile(folder.resolve("file"));
    assertRefused("--state", BOTH, "--state", file.resolve("state").toString());
    assertRefused("--state " + folder, BOTH, "--state", folder.toString());
  }

  @Test
  void reportsUnreachableCluster() {
    List<String> unreachable =
        List.of("--from", "mongodb://127.0.0.1:1", "--to", "mongodb://127.0.0.1:2");
    assertFails(1, "cannot reach", unreachable, "--timeout", "500ms");
  }

  @Test
  void rejectsInvalidNamesAndFilters() {
    assertRefused("neither a database nor", BOTH, "--include", ".c");
    assertRefused("can't become", BOTH, "--rename", "a=b.c");
    assertRefused("both become", BOTH, "--rename", "a=c,b=c");
    assertRefused("is reserved for the servers", BOTH, "--rename", "a=admin");
    assertRefused("not a JSON object", BOTH, "--filter", "a.b=x");
    assertRefused("is not database.collection", BOTH, "--filter", "a={}");
  }
}
