package dev.onehop.it;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Prints the versions with which tests passed. They come from the system properties of the tests'
 * JVMs, which surefire and failsafe report. If a test starts another JVM and passes, that JVM
 * stores its properties by {@code System.getProperties().store(..)} in {@code
 * target/ran/NAME.properties} of a module. The file docs/support.csv adds rows that no test covers.
 * The class runs without a build, at the root of the project: {@code java
 * src-it/src/test/java/dev/onehop/it/SupportTable.java > target/support.md}.
 */
final class SupportTable {
  /** The system property with the version of the servers. Tests without servers do not set it. */
  private static final String SERVER = "onehop.it.server";

  private static final String HEAD =
      """
      | | Server | JDK | Sync driver | Reactive driver | Spring Boot | Netty | Micrometer | |
      | --- | --- | --- | --- | --- | --- | --- | --- | --- |
      """;

  private static final List<String> JARS =
      List.of(
          "mongodb-driver-sync",
          "mongodb-driver-reactivestreams",
          "spring-boot",
          "netty-transport",
          "micrometer-core");

  private static final Pattern MODULE = Pattern.compile("<module>(.+?)</module>");

  /** The versions in the order of the columns, empty for a missing library. */
  private record Row(List<String> versions) {

    static Row of(Properties jvm) {
      String classPath =
          jvm.getProperty("surefire.test.class.path", jvm.getProperty("java.class.path", ""));
      return new Row(
          Stream.concat(
                  Stream.of(
                      jvm.getProperty(SERVER, ""),
                      jvm.getProperty("java.specification.version", "")),
                  JARS.stream().map(jar -> version(jar, classPath)))
              .toList());
    }

    private static String version(String jar, String classPath) {
      Matcher found = Pattern.compile("/" + jar + "-(\\d[^/]*)\\.jar").matcher(classPath);
      return found.find() ? found.group(1) : "";
    }

    boolean hasDriver() {
      return !versions.get(2).isEmpty() || !versions.get(3).isEmpty();
    }

    /** Whether another row has all versions of this row, and at least one more. */
    boolean isPartOf(Row other) {
      return !equals(other)
          && IntStream.range(0, versions.size())
              .allMatch(
                  i -> versions.get(i).isEmpty() || versions.get(i).equals(other.versions.get(i)));
    }

    @Override
    public String toString() {
      return "| %s | %s | |%n"
          .formatted(versions.get(0).isEmpty() ? "built" : "tested", String.join(" | ", versions));
    }
  }

  private SupportTable() {}

  public static void main(String[] args) throws Exception {
    System.out.print(table(Path.of("")));
  }

  static String table(Path root) throws IOException, ParserConfigurationException, SAXException {
    Set<Row> reported = new HashSet<>();
    Set<String> lines = new TreeSet<>();
    String pom = Files.readString(root.resolve("pom.xml"));
    for (String module : MODULE.matcher(pom).results().map(found -> found.group(1)).toList()) {
      Path target = root.resolve(module).resolve("target");
      for (Path file : files(target, "(surefire|failsafe)-reports[^/]*/TEST-.*\\.xml")) {
        report(file, reported);
      }
      for (Path file : files(target, "ran/.*\\.properties")) {
        Properties jvm = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
          jvm.load(reader);
        }
        lines.add(Row.of(jvm).toString());
      }
    }
    // Leaves out rows that are a part of another row, because most modules have only some
    // libraries.
    reported.stream()
        .filter(Row::hasDriver)
        .filter(row -> reported.stream().noneMatch(row::isPartOf))
        .forEach(row -> lines.add(row.toString()));
    StringBuilder text = new StringBuilder(HEAD);
    lines.forEach(text::append);
    for (String line : Files.readAllLines(root.resolve("docs/support.csv"))) {
      text.append("| ").append(line.replace(";", " | ")).append(" |\n");
    }
    return text.toString();
  }

  private static List<Path> files(Path target, String pattern) throws IOException {
    if (!Files.isDirectory(target)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(target, 2)) {
      return files
          .filter(file -> target.relativize(file).toString().matches(pattern))
          .sorted()
          .toList();
    }
  }

  /** Adds the versions of a test class if no test failed and not all were skipped. */
  private static void report(Path file, Set<Row> rows)
      throws IOException, ParserConfigurationException, SAXException {
    Element suite =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(file.toFile())
            .getDocumentElement();
    int failed = number(suite, "errors") + number(suite, "failures");
    if (failed == 0 && number(suite, "tests") > number(suite, "skipped")) {
      Properties jvm = new Properties();
      NodeList properties = suite.getElementsByTagName("property");
      for (int i = 0; i < properties.getLength(); i++) {
        Element property = (Element) properties.item(i);
        jvm.setProperty(property.getAttribute("name"), property.getAttribute("value"));
      }
      rows.add(Row.of(jvm));
    }
  }

  private static int number(Element suite, String attribute) {
    return Integer.parseInt(suite.getAttribute(attribute));
  }
}
