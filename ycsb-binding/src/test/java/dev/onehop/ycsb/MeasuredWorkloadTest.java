package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.BasicDB;
import site.ycsb.Client;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;

class MeasuredWorkloadTest {
  private final Properties properties = new Properties();
  private final BasicDB db = new BasicDB();

  @TempDir private Path folder;

  private MeasuredWorkload workload() throws Exception {
    properties.setProperty(Client.RECORD_COUNT_PROPERTY, "100");
    properties.setProperty("basicdb.verbose", "false");
    Measurements.setProperties(properties);
    MeasuredWorkload workload = new MeasuredWorkload();
    workload.init(properties);
    db.setProperties(properties);
    db.init();
    return workload;
  }

  @Test
  void runsOtherWorkloadUntilTimeIsOver() throws Exception {
    Path summary = folder.resolve("summary.json");
    properties.setProperty(BindingOptions.SUMMARY, summary.toString());
    properties.setProperty(RunLength.DURATION, "2500");
    MeasuredWorkload workload = workload();
    long begun = System.nanoTime();
    long operations = 0;
    while (workload.doTransaction(db, new Object())) {
      operations++;
    }

    assertThat(System.nanoTime() - begun).isBetween(2_500_000_000L, 60_000_000_000L);
    assertThat(operations).isPositive();
    assertThat(RunLength.reached(summary)).isNotNull();
    workload.cleanup();
  }

  @Test
  void rejectsInvalidWorkloadClass() {
    properties.setProperty(MeasuredWorkload.WORKLOAD, "java.lang.String");

    assertThatThrownBy(this::workload)
        .isInstanceOf(WorkloadException.class)
        .hasMessageContaining("cannot use the workload class java.lang.String");
  }
}
