package dev.onehop.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Code of a page that names its source, {@code <!-- from FILE -->}, is in that file, which the
 * build or {@code .ci/examples} compiles and runs.
 */
class SnippetsTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern SNIPPET =
      Pattern.compile("(?s)<!-- from (\\S+) -->\n```java\n(.*?)```");

  @Test
  void codeOfPagesIsCodeThatRuns() throws IOException {
    int snippets = 0;
    try (Stream<Path> pages = Files.list(ROOT.resolve("docs"))) {
      for (Path page : pages.filter(each -> each.toString().endsWith(".md")).toList()) {
        List<MatchResult> found = SNIPPET.matcher(Files.readString(page)).results().toList();
        for (MatchResult snippet : found) {
          String source = Files.readString(ROOT.resolve(snippet.group(1)));
          assertThat(words(source)).as("%s", page).contains(words(snippet.group(2)));
        }
        snippets += found.size();
      }
    }
    assertThat(snippets).isGreaterThanOrEqualTo(2);
  }

  private static String words(String code) {
    return code.replaceAll("\\s+", " ").strip();
  }
}
