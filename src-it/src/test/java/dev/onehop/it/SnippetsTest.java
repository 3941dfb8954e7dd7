package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject.Kind;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Checks the Java code of the manual. If a block names its source with {@code <!-- from FILE -->},
 * that file must contain it. The build or {@code .ci/examples} compiles and runs the file. All
 * other blocks must compile: for each page, {@code src/test/snippets} has a file with the
 * surrounding code, and a numbered comment in place of each block.
 */
class SnippetsTest {
  private static final Path HOME = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern BLOCK =
      Pattern.compile(
          "^(?:<!-- from (\\S+) -->\\n)?```java\\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);
  private static final Pattern PLACE = Pattern.compile("/\\* (\\d+) \\*/");
  private static final Pattern IMPORT = Pattern.compile("^import [^;]+;\\n", Pattern.MULTILINE);

  static List<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.list(HOME.resolve("docs"))) {
      return Stream.concat(Stream.of(HOME.resolve("README.md")), docs.sorted())
          .filter(page -> page.toString().endsWith(".md") && blocks(page).findAny().isPresent())
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("pages")
  void namedSourceContainsCode(Path page) {
    blocks(page)
        .filter(block -> block.group(1) != null)
        .forEach(
            block ->
                assertThat(words(read(HOME.resolve(block.group(1)))))
                    .contains(words(block.group(2))));
  }

  @ParameterizedTest
  @MethodSource("pages")
  void allOtherCodeCompiles(Path page, @TempDir Path classes) {
    List<String> blocks =
        blocks(page).filter(block -> block.group(1) == null).map(block -> block.group(2)).toList();
    if (blocks.isEmpty()) {
      return;
    }
    Path file = Path.of("src/test/snippets", page.getFileName().toString().replace(".md", ".java"));
    assertThat(file).exists();
    String template = read(file);
    assertThat(PLACE.matcher(template).results().map(SnippetsTest::number))
        .as("the blocks that %s places", file)
        .containsExactlyInAnyOrderElementsOf(
            Stream.iterate(1, number -> number + 1).limit(blocks.size()).toList());

    List<String> imports = new ArrayList<>();
    String code =
        PLACE
            .matcher(template)
            .replaceAll(
                place -> {
                  String block = blocks.get(number(place) - 1);
                  IMPORT.matcher(block).results().forEach(line -> imports.add(line.group()));
                  return Matcher.quoteReplacement(IMPORT.matcher(block).replaceAll(""));
                });
    assertThat(errors(String.join("", imports) + code, classes)).isEmpty();
  }

  private static String errors(String code, Path classes) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter errors = new StringWriter();
    var source =
        new SimpleJavaFileObject(URI.create("string:///Snippets.java"), Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignored) {
            return code;
          }
        };
    boolean compiled =
        compiler
            .getTask(
                errors,
                null,
                null,
                List.of("-d", classes.toString(), "-proc:none", "-Xlint:none", "-cp", classPath()),
                null,
                List.of(source))
            .call();
    return compiled ? "" : errors + "\n" + code;
  }

  private static String classPath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }

  private static int number(MatchResult place) {
    return Integer.parseInt(place.group(1));
  }

  private static Stream<MatchResult> blocks(Path page) {
    return BLOCK.matcher(read(page)).results();
  }

  private static String words(String code) {
    return code.replaceAll("\\s+", " ").strip();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
