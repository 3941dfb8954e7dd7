package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

class WorkloadFilesTest {

  @ParameterizedTest
  @CsvSource({
    "workloada, 0.5, 0.5, 0, 0, 0, zipfian",
    "workloadb, 0.95, 0.05, 0, 0, 0, zipfian",
    "workloadc, 1, 0, 0, 0, 0, zipfian",
    "workloadd, 0.95, 0, 0, 0.05, 0, latest",
    "workloade, 0, 0, 0.95, 0.05, 0, zipfian",
    "workloadf, 0.5, 0, 0, 0, 0.5, zipfian"
  })
  void matchesWorkloadOfYcsb(
      String name,
      double read,
      double update,
      double scan,
      double insert,
      double readModifyWrite,
      String distribution)
      throws Exception {
    Properties properties = load(Path.of("workloads", name));

    assertThat(
            Stream.of("read", "update", "scan", "insert", "readmodifywrite")
                .map(operation -> properties.getProperty(operation + "proportion"))
                .map(Double::valueOf))
        .containsExactly(read, update, scan, insert, readModifyWrite);
    assertThat(properties)
        .containsEntry("requestdistribution", distribution)
        .containsEntry("fieldcount", "10")
        .containsEntry("fieldlength", "100");
    Measurements.setProperties(properties);
    new CoreWorkload().init(properties); // throws if it refuses a property
  }

  private static Properties load(Path file) throws IOException {
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    }
    return properties;
  }
}
