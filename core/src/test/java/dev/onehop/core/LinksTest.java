package dev.onehop.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The links of pages lead to existing files, on GitHub and on the site. The site contains only the
 * folder {@code docs}, so a page links files outside this folder by their address on GitHub. MkDocs
 * checks anchors.
 */
class LinksTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern CODE = Pattern.compile("(?s)```.*?```|`[^`\n]*`");
  private static final Pattern OURS =
      Pattern.compile("https://github\\.com/onehop-dev/onehop/(?:blob|tree|raw)/main/([^#]+).*");

  @Test
  void everyLinkLeadsToAFile() throws IOException {
    List<String> broken = new ArrayList<>();
    int links = 0;
    for (Path page : pages()) {
      for (String link : links(Files.readString(page))) {
        links++;
        if (!leadsToAFile(page, link)) {
          broken.add(ROOT.relativize(page) + ": " + link);
        }
      }
    }
    assertThat(broken).isEmpty();
    assertThat(links).isGreaterThan(100);
  }

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    for (String folder : List.of(".", "docs", "docker", "docker/kubernetes", "ycsb-binding")) {
      try (Stream<Path> all = Files.list(ROOT.resolve(folder).normalize())) {
        all.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
      }
    }
    return pages;
  }

  private static List<String> links(String page) {
    return LINK.matcher(CODE.matcher(page).replaceAll(""))
        .results()
        .map((MatchResult found) -> found.group(1))
        .toList();
  }

  private static boolean leadsToAFile(Path page, String link) {
    var ours = OURS.matcher(link);
    if (ours.matches()) {
      return Files.exists(ROOT.resolve(ours.group(1)));
    }
    if (link.startsWith("http") || link.startsWith("#")) {
      return true;
    }
    String file = link.replaceFirst("#.*", "");
    boolean onTheSite = !page.startsWith(ROOT.resolve("docs")) || !file.startsWith("..");
    return onTheSite && Files.exists(page.resolveSibling(file));
  }
}
