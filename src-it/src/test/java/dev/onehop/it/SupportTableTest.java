package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SupportTableTest {
  private static final String SYNC = "/m/mongodb-driver-sync-5.8.0.jar";
  private static final String BOTH =
      SYNC + ":/m/mongodb-driver-reactivestreams-5.8.0.jar:/m/netty-transport-4.2.18.Final.jar";

  @TempDir private Path root;

  private void write(String file, String text) throws IOException {
    Files.createDirectories(root.resolve(file).getParent());
    Files.writeString(root.resolve(file), text);
  }

  private void report(String file, int failures, String server, String classPath)
      throws IOException {
    write(
        file,
        """
        <testsuite name="x" tests="2" skipped="1" errors="0" failures="%d"><properties>
        <property name="java.specification.version" value="17"/>%s
        <property name="surefire.test.class.path" value="%s"/></properties></testsuite>
        """
            .formatted(
                failures,
                server.isEmpty()
                    ? ""
                    : "<property name=\"onehop.it.server\" value=\"%s\"/>".formatted(server),
                classPath));
  }

  @Test
  void hasRowForEachTestedSetOfVersions() throws Exception {
    write("pom.xml", "<module>a</module><module>b/c</module>");
    report("a/target/surefire-reports/TEST-Part.xml", 0, "", SYNC);
    report("a/target/surefire-reports/TEST-NoDriver.xml", 0, "", "/m/assertj-core-3.27.7.jar");
    report("a/target/failsafe-reports/TEST-AllIT.xml", 0, "6.0.5", BOTH);
    report("a/target/failsafe-reports/TEST-OldIT.xml", 0, "6.0.5", BOTH.replace("5.8", "5.6"));
    report("a/target/failsafe-reports/TEST-FailedIT.xml", 1, "6.0.5", BOTH.replace("5.8", "5.1"));
    write(
        "b/c/target/ran/sync-5.14.properties",
        "onehop.it.server=6.0.5\njava.specification.version=21\njava.class.path="
            + SYNC.replace("5.8", "5.14")
            + "\n");
    write("docs/support.csv", "expected;8.0;17;;;;;;like 7.0\n");

    assertThat(SupportTable.table(root).lines().skip(2))
        .containsExactly(
            "| tested | 6.0.5 | 17 | 5.6.0 | 5.6.0 |  | 4.2.18.Final |  | |",
            "| tested | 6.0.5 | 17 | 5.8.0 | 5.8.0 |  | 4.2.18.Final |  | |",
            "| tested | 6.0.5 | 21 | 5.14.0 |  |  |  |  | |",
            "| expected | 8.0 | 17 |  |  |  |  |  | like 7.0 |");
  }
}
