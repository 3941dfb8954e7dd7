package dev.onehop.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ManPagesTest {

  @TempDir private Path folder;

  @Test
  void eachCommandHasAPageWithItsOptionsAndExamples() throws Exception {
    ManPages.main(new String[] {folder.toString()});

    assertThat(folder.resolve("onehop.1")).exists();
    assertThat(folder.resolve("onehop-topology-up.1")).exists();
    assertThat(Files.readString(folder.resolve("onehop-bench-points.1")))
        .startsWith(
            ".TH ONEHOP-BENCH-POINTS 1\n.SH NAME\nonehop-bench-points \\- Measure throughput")
        .contains(
            ".SH SYNOPSIS\n.nf\nonehop bench points",
            ".SH CLUSTER\n",
            ".TP\n.B \\-\\-threads N\nYCSB client threads.",
            "\n  onehop bench points \\-\\-threads 64 \\-\\-rounds 5\n")
        .doesNotContain("\n'", "%n", "--");
  }
}
