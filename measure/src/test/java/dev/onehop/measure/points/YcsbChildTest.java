package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.resync.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class YcsbChildTest {

  @Test
  void errorFileHasReasonOfFailure(@TempDir Path folder) throws Exception {
    Path absent = folder.resolve("absent.pem");
    YcsbChild.Task task = new YcsbChild.Task(List.of("run"), folder.resolve("ycsb.out"), absent);
    try (ChildJvm child =
        ChildJvm.start(
            "YCSB",
            List.of(),
            List.of(),
            YcsbChild.class,
            task,
            folder.resolve("ycsb.err"),
            line -> true)) {
      assertThat(child.awaitEnd(Duration.ofMinutes(1))).isEqualTo(1);
    }
    assertThat(YcsbClients.complaint(folder))
        .hasValueSatisfying(
            reason -> assertThat(reason).startsWith("cannot use the certificates of " + absent));
  }
}
