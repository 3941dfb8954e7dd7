package dev.onehop.measure.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.results.PropagateMeasurement;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FindingsTest {

  @Test
  void titleUsesSingularForOneObject() {
    assertThat(new PropagatePlan.Point(Measurement.LOAD, 1, 1, 200, 1).title())
        .isEqualTo("load, 1 object, 1 client");
  }

  private static final PropagatePlan.Point POINT =
      new PropagatePlan.Point(Measurement.LOAD, 20, 1, 200, 3);

  @TempDir private Path folder;

  private static Findings found(long micros) {
    Findings findings = Findings.of(Findings.LATENCY, Findings.SNAPSHOT);
    findings.times(Findings.LATENCY).add(micros);
    findings.faults(1, 2);
    return findings;
  }

  @Test
  void addsReportOfAnotherProcess() throws Exception {
    ObjectMapper json = new ObjectMapper();
    Map<String, Findings> report =
        json.readValue(
            json.writeValueAsString(Map.of("ordered", found(70))), new TypeReference<>() {});

    Findings sum = found(50);
    sum.addAll(report.get("ordered"));

    assertThat(sum.times(Findings.LATENCY).toArray()).containsExactly(50, 70);
    PropagateMeasurement measurement =
        Findings.write(Map.of("ordered", sum), POINT, 2, 1, folder).get(0);
    assertThat(measurement.lost()).isEqualTo(2);
    assertThat(measurement.doubled()).isEqualTo(4);
    assertThat(measurement.latency().max()).isEqualTo(70);
    assertThat(measurement.snapshot().count()).isZero();
    assertThat(measurement.service()).isNull();
    assertThat(measurement.clients()).isEqualTo(3);
    assertThat(folder)
        .isDirectoryContaining("glob:**/ordered-latency.hlog")
        .isDirectoryContaining("glob:**/ordered-snapshot.hlog")
        .isDirectoryNotContaining("glob:**/ordered-service.hlog");
  }
}
