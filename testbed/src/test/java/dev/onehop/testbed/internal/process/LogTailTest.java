package dev.onehop.testbed.internal.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogTailTest {
  private static final String SLOW_QUERY =
      """
      {"t":{"$date":"2026-11-21T09:00:00.000+00:00"},"s":"I","c":"COMMAND","id":51803,"ctx":"conn9",\
      "msg":"Slow query","attr":{"type":"command","ns":"ycsb.usertable","durationMillis":0}}""";
  private static final String FATAL =
      """
      {"t":{"$date":"2026-11-21T09:00:00.000+00:00"},"s":"F","c":"CONTROL","id":6384300,"ctx":"main",\
      "msg":"Writing fatal message","attr":{"message":"out of disk"}}""";

  @TempDir private Path folder;

  @Test
  void formatsLastLines() throws IOException {
    assertThat(LogTail.of(log("one", "", FATAL, "two"), 2))
        .containsExactly("F CONTROL Writing fatal message {\"message\": \"out of disk\"}", "two");
  }

  @Test
  void omitsSlowQueries() throws IOException {
    List<String> lines = new ArrayList<>(List.of(FATAL));
    for (int i = 0; i < 500; i++) {
      lines.add(SLOW_QUERY);
    }

    assertThat(LogTail.of(log(lines.toArray(String[]::new)), 5)).hasSize(1);
  }

  @Test
  void missingLogHasNoLines() {
    assertThat(LogTail.of(folder.resolve("missing"), 3)).isEmpty();
  }

  private Path log(String... lines) throws IOException {
    return Files.writeString(folder.resolve("log"), String.join("\n", lines));
  }
}
