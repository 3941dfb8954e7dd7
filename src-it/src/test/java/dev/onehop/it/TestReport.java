package dev.onehop.it;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.SAXException;

/**
 * Reads the reports of surefire and failsafe about the tests of all modules. {@code slowest SINCE}
 * prints the slowest classes that ran after a time. {@code flaky} prints the tests that failed and
 * then passed, and fails if there are many. The class runs without a build, at the root of the
 * project: {@code java src-it/src/test/java/dev/onehop/it/TestReport.java flaky}.
 */
record TestReport(List<TestClass> classes) {
  static final int FLAKY_ALLOWED = 3;
  private static final int SHOWN = 10;
  private static final Pattern MODULE = Pattern.compile("<module>(.+?)</module>");

  record TestClass(String name, boolean integration, double seconds, List<Flake> flakes) {}

  /** A test that failed and then passed, with its first failure. */
  record Flake(String test, String failure) {}

  public static void main(String[] args) throws Exception {
    if (args[0].equals("slowest")) {
      System.out.print(read(Path.of(""), Instant.parse(args[1])).slowest());
    } else {
      TestReport report = read(Path.of(""), Instant.EPOCH);
      System.out.print(report.flaky());
      System.exit(report.tooFlaky() ? 1 : 0);
    }
  }

  static TestReport read(Path root, Instant since)
      throws IOException, ParserConfigurationException, SAXException {
    List<TestClass> classes = new ArrayList<>();
    String pom = Files.readString(root.resolve("pom.xml"));
    for (String module : MODULE.matcher(pom).results().map(found -> found.group(1)).toList()) {
      for (Path folder :
          list(root.resolve(module).resolve("target"), "{surefire,failsafe}-reports*")) {
        for (Path file : list(folder, "TEST-*.xml")) {
          if (!Files.getLastModifiedTime(file).toInstant().isBefore(since)) {
            classes.add(parse(file, folder.getFileName().toString().startsWith("failsafe")));
          }
        }
      }
    }
    return new TestReport(classes);
  }

  private static List<Path> list(Path folder, String glob) throws IOException {
    List<Path> found = new ArrayList<>();
    if (Files.isDirectory(folder)) {
      try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, glob)) {
        files.forEach(found::add);
      }
    }
    return found;
  }

  private static TestClass parse(Path file, boolean integration)
      throws IOException, ParserConfigurationException, SAXException {
    Element suite =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(file.toFile())
            .getDocumentElement();
    List<Flake> flakes = new ArrayList<>();
    NodeList cases = suite.getElementsByTagName("testcase");
    for (int i = 0; i < cases.getLength(); i++) {
      Element test = (Element) cases.item(i);
      for (Node child = test.getFirstChild(); child != null; child = child.getNextSibling()) {
        if (child.getNodeName().matches("flaky(Failure|Error)")) {
          flakes.add(
              new Flake(
                  test.getAttribute("classname") + "." + test.getAttribute("name"),
                  failure((Element) child)));
          break; // The first failure.
        }
      }
    }
    double seconds = Double.parseDouble(suite.getAttribute("time").replace(",", ""));
    return new TestClass(suite.getAttribute("name"), integration, seconds, flakes);
  }

  /**
   * The stack trace of a failure. The rest of the element is not read, because it contains the
   * test's output.
   */
  private static String failure(Element flake) {
    Node trace = flake.getElementsByTagName("stackTrace").item(0);
    return trace == null ? flake.getAttribute("message") : trace.getTextContent().strip();
  }

  String slowest() {
    return slowest("unit", test -> !test.integration)
        + slowest("integration", TestClass::integration);
  }

  private String slowest(String kind, Predicate<TestClass> which) {
    List<TestClass> slowest =
        classes.stream()
            .filter(which)
            .sorted(Comparator.comparingDouble(TestClass::seconds).reversed())
            .toList();
    if (slowest.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "The slowest of %d classes of %s tests, which took %.0f s:%n",
            slowest.size(),
            kind,
            slowest.stream().mapToDouble(TestClass::seconds).sum()));
    for (TestClass test : slowest.subList(0, Math.min(SHOWN, slowest.size()))) {
      text.append(String.format(Locale.ROOT, "%7.1f s  %s%n", test.seconds, test.name));
    }
    return text.toString();
  }

  String flaky() {
    List<Flake> flakes = flakes();
    StringBuilder text = new StringBuilder();
    text.append(
        flakes.isEmpty()
            ? "No flaky tests.\n"
            : "Flaky tests, which failed and then passed: %d\n".formatted(flakes.size()));
    for (Flake flake : flakes) {
      text.append("  ").append(flake.test).append('\n');
      flake
          .failure
          .lines()
          .limit(SHOWN)
          .forEach(line -> text.append("      ").append(line.strip()).append('\n'));
    }
    if (tooFlaky()) {
      text.append("More than %d flaky tests: the run fails.\n".formatted(FLAKY_ALLOWED));
    }
    return text.toString();
  }

  boolean tooFlaky() {
    return flakes().size() > FLAKY_ALLOWED;
  }

  private List<Flake> flakes() {
    return classes.stream().flatMap(test -> test.flakes.stream()).toList();
  }
}
