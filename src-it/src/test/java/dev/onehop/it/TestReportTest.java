package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.it.TestReport.Flake;
import dev.onehop.it.TestReport.TestClass;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TestReportTest {
  private static final String PASSED =
      "<testcase name=\"passes\" classname=\"a.PassingTest\" time=\"0.1\"/>";

  /**
   * Surefire's report of a test that failed twice and then passed, with rerunFailingTestsCount=2.
   */
  private static final String FLAKY =
      """
      <testcase name="flickers" classname="a.FlakyIT" time="0.2">
        <flakyFailure message="expected: 1" type="java.lang.AssertionError">
          <stackTrace><![CDATA[java.lang.AssertionError: expected: 1
      	at a.FlakyIT.flickers(FlakyIT.java:3)]]></stackTrace>
          <system-out>noise</system-out>
        </flakyFailure>
        <flakyError message="second" type="java.lang.IllegalStateException">
          <stackTrace><![CDATA[java.lang.IllegalStateException: second]]></stackTrace>
        </flakyError>
      </testcase>
      """;

  /** A test that failed at each attempt. It is not flaky, and Maven itself reports it. */
  private static final String FAILED =
      """
      <testcase name="fails" classname="a.FlakyIT" time="0.2">
        <failure message="no" type="java.lang.AssertionError"><![CDATA[no]]></failure>
        <rerunFailure message="no" type="java.lang.AssertionError"/>
      </testcase>
      """;

  @TempDir private Path root;

  @Test
  void listsSlowestClassesOfEachKind() throws Exception {
    write("a/target/surefire-reports/TEST-a.PassingTest.xml", "a.PassingTest", "0.5", PASSED);
    write("b/c/target/surefire-reports/TEST-c.SlowTest.xml", "c.SlowTest", "1,234.5", PASSED);
    write("a/target/failsafe-reports/TEST-a.FlakyIT.xml", "a.FlakyIT", "7", FLAKY);
    write("a/target/failsafe-reports-containers/TEST-a.FlakyIT.xml", "a.FlakyIT", "8", PASSED);
    write("a/target/other/TEST-a.OtherIT.xml", "a.OtherIT", "9", PASSED);
    write("not-a-module/target/surefire-reports/TEST-x.XTest.xml", "x.XTest", "9", PASSED);
    assertThat(read(Instant.EPOCH).slowest().lines())
        .containsExactly(
            "The slowest of 2 classes of unit tests, which took 1235 s:",
            " 1234.5 s  c.SlowTest",
            "    0.5 s  a.PassingTest",
            "The slowest of 2 classes of integration tests, which took 15 s:",
            "    8.0 s  a.FlakyIT",
            "    7.0 s  a.FlakyIT");
  }

  @Test
  void showsTenClassesOfEachKind() {
    TestReport report =
        new TestReport(
            IntStream.rangeClosed(1, 12)
                .mapToObj(i -> new TestClass("Test" + i, false, i, List.of()))
                .toList());
    assertThat(report.slowest().lines())
        .hasSize(11)
        .contains("   12.0 s  Test12", "    3.0 s  Test3")
        .doesNotContain("    2.0 s  Test2");
  }

  @Test
  void ignoresReportsOfEarlierRuns() throws Exception {
    Instant start = Instant.parse("2026-01-02T03:04:05Z");
    write("a/target/surefire-reports/TEST-a.OldTest.xml", "a.OldTest", "1", PASSED);
    Files.setLastModifiedTime(
        root.resolve("a/target/surefire-reports/TEST-a.OldTest.xml"),
        FileTime.from(start.minusSeconds(1)));
    write("a/target/surefire-reports/TEST-a.NewTest.xml", "a.NewTest", "1", PASSED);
    assertThat(read(start).classes()).extracting(TestClass::name).containsExactly("a.NewTest");
  }

  @Test
  void listsFlakyTestWithFirstFailure() throws Exception {
    write("a/target/failsafe-reports/TEST-a.FlakyIT.xml", "a.FlakyIT", "7", FLAKY + FAILED);
    write("a/target/surefire-reports/TEST-a.PassingTest.xml", "a.PassingTest", "1", PASSED);
    TestReport report = read(Instant.EPOCH);
    assertThat(report.tooFlaky()).isFalse();
    assertThat(report.flaky().lines())
        .containsExactly(
            "Flaky tests, which failed and then passed: 1",
            "  a.FlakyIT.flickers",
            "      java.lang.AssertionError: expected: 1",
            "      at a.FlakyIT.flickers(FlakyIT.java:3)");
  }

  @Test
  void moreThanThreeFlakyTestsFail() {
    assertThat(withFlakes(3).tooFlaky()).isFalse();
    assertThat(withFlakes(4).tooFlaky()).isTrue();
    assertThat(withFlakes(4).flaky())
        .contains("  a.AIT.t3\n")
        .endsWith("More than 3 flaky tests: the run fails.\n");
    assertThat(withFlakes(0).flaky()).isEqualTo("No flaky tests.\n");
  }

  private static TestReport withFlakes(int count) {
    List<Flake> flakes =
        IntStream.range(0, count).mapToObj(i -> new Flake("a.AIT.t" + i, "failure")).toList();
    return new TestReport(List.of(new TestClass("a.AIT", true, 1, flakes)));
  }

  private TestReport read(Instant since) throws Exception {
    Files.writeString(root.resolve("pom.xml"), "<module>a</module><module>b/c</module>");
    return TestReport.read(root, since);
  }

  private void write(String file, String name, String time, String cases) throws Exception {
    Files.createDirectories(root.resolve(file).getParent());
    Files.writeString(
        root.resolve(file),
        "<testsuite name=\"%s\" time=\"%s\"><properties/>%s</testsuite>"
            .formatted(name, time, cases));
  }
}
