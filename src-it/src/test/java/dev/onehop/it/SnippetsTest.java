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
 * Compiles the Java code of the manual. For each page with Java code, {@code src/test/snippets} has
 * a file with the code around its blocks. A comment with its number alone stands for a block;
 * {@code // 1 in PATH} means that the file PATH has the lines of the block, so that its module
 * compiles them.
 */
class SnippetsTest {
  private static final Path HOME = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern BLOCK =
      Pattern.compile("^```java\\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);
  private static final Pattern PLACE = Pattern.compile("/\\* (\\d+) \\*/|// (\\d+) in (\\S+)");
  private static final Pattern IMPORT = Pattern.compile("^import [^;]+;\\n", Pattern.MULTILINE);

  static List<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.list(HOME.resolve("docs"))) {
      return Stream.concat(Stream.of(HOME.resolve("README.md")), docs.sorted())
          .filter(page -> page.toString().endsWith(".md") && !blocks(page).isEmpty())
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("pages")
  void theCodeOfAPageCompiles(Path page, @TempDir Path classes) throws IOException {
    List<String> blocks = blocks(page);
    Path file = Path.of("src/test/snippets", page.getFileName().toString().replace(".md", ".java"));
    assertThat(file).exists();
    String places = Files.readString(file);
    assertThat(PLACE.matcher(places).results().map(SnippetsTest::number))
        .as("the blocks that %s places", file)
        .containsExactlyInAnyOrderElementsOf(
            Stream.iterate(1, number -> number + 1).limit(blocks.size()).toList());

    List<String> imports = new ArrayList<>();
    String code =
        PLACE
            .matcher(places)
            .replaceAll(
                place -> {
                  String block = blocks.get(number(place) - 1);
                  if (place.group(3) != null) {
                    assertThat(withoutSpace(read(HOME.resolve(place.group(3)))))
                        .contains(withoutSpace(block));
                    return "";
                  }
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
    return Integer.parseInt(place.group(1) == null ? place.group(2) : place.group(1));
  }

  private static List<String> blocks(Path page) {
    return BLOCK.matcher(read(page)).results().map(block -> block.group(1)).toList();
  }

  /** A page may have other white space, comments and names of collections. */
  private static String withoutSpace(String code) {
    return code.replaceAll("\"[^\"\\n]*\"", "\"\"")
        .replaceAll("//[^\\n]*", "")
        .replaceAll("\\s+", "");
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
