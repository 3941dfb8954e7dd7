package dev.onehop.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/troubleshooting.md quotes the messages of the code. */
class TroubleshootingTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]*[a-z] [^`]*)`");
  private static final List<String> MODULES =
      List.of("wire", "shards", "routing", "streams", "integrations/auth", "integrations/flink");

  private static final Pattern LOGGED =
      Pattern.compile("log\\.(?:info|warn|error)\\(\\s*\"([^\"]+)\"");

  private static String messages() throws IOException {
    StringBuilder code = new StringBuilder();
    for (String module : MODULES) {
      try (Stream<Path> all = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
        for (Path file : all.filter(each -> each.toString().endsWith(".java")).toList()) {
          code.append(Files.readString(file));
        }
      }
    }
    return code.toString().replaceAll("\"\\s*\\+\\s*\"", "");
  }

  @Test
  void everyMessageIsInTheCode() throws IOException {
    String code = messages();
    List<String> rows =
        ROW.matcher(Files.readString(ROOT.resolve("docs/troubleshooting.md")))
            .results()
            .map((MatchResult row) -> row.group(1))
            .toList();
    List<String> absent = new ArrayList<>();
    for (String row : rows) {
      Arrays.stream(row.split("…"))
          .filter(part -> part.strip().length() > 2 && !code.contains(part))
          .forEach(part -> absent.add(row + " lacks: " + part));
    }
    assertThat(absent).isEmpty();
    assertThat(rows).hasSizeGreaterThan(30);
  }

  @Test
  void everyLoggedMessageIsOnThePage() throws IOException {
    String page = Files.readString(ROOT.resolve("docs/troubleshooting.md"));
    List<String> logged =
        LOGGED.matcher(messages()).results().map((MatchResult line) -> line.group(1)).toList();
    assertThat(logged).hasSizeGreaterThan(20);
    assertThat(logged).filteredOn(message -> !isOnThePage(message, page)).isEmpty();
  }

  /**
   * Whether the page has the first sentence of a message. The page need not have the advice after
   * it.
   */
  private static boolean isOnThePage(String message, String page) {
    return Arrays.stream(message.split("\\. ", 2)[0].split("\\{}", -1))
        .allMatch(part -> part.strip().length() <= 3 || page.contains(part.strip()));
  }
}
