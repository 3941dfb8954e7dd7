package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.ycsb.LauncherArguments.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LauncherArgumentsTest {
  @TempDir private Path folder;
  private String file = "";

  @BeforeEach
  void writeWorkload() throws IOException {
    file = folder.resolve("workload").toString();
    Files.writeString(
        Path.of(file),
        "workload=site.ycsb.workloads.CoreWorkload\nrecordcount=10\noperationcount=20\n");
  }

  @Test
  void singlePropertiesOverrideFiles() throws IOException {
    Path second = Files.writeString(folder.resolve("second"), "recordcount=11\ntarget=7\n");

    LauncherArguments arguments =
        parse("run -p target=9 -P " + file + " -P " + second + " -threads 4 -l night -s -db X");

    assertThat(arguments.command()).isEqualTo(Command.RUN);
    assertThat(arguments.properties())
        .containsEntry("recordcount", "11")
        .containsEntry("operationcount", "20")
        .containsEntry("target", "9")
        .containsEntry("threadcount", "4")
        .containsEntry("label", "night")
        .containsEntry("db", "X");
  }

  @Test
  void passesPhaseToYcsb() {
    assertThat(parse("load -P " + file).forYcsb()).containsExactly("-P", file, "-load");
    assertThat(parse("run -P " + file).forYcsb()).containsExactly("-P", file, "-t");
  }

  @Test
  void shellNeedsNoWorkloadAndDisablesBatches() {
    assertThat(parse("shell -p mongodb.batchsize=50").forYcsb())
        .endsWith("-p", "mongodb.batchsize=1");
  }

  @Test
  void propertyValueCanContainEqualsSign() {
    assertThat(parse("run -P " + file + " -p mongodb.url=mongodb://h/?w=1").properties())
        .containsEntry("mongodb.url", "mongodb://h/?w=1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "bench -P FILE",
        "run",
        "run -P FILE -threads",
        "run -P FILE -threads many",
        "run -P FILE -threads 0",
        "run -P FILE -target -5",
        "run -P FILE -thread 3",
        "run -P FILE stray",
        "run -P FILE -p novalue",
        "run -P FILE -p =value",
        "run -P FILE -p operationcount=0",
        "load -P FILE -p recordcount=none",
        "load -P FILE -p insertcount=0",
        "run -P FILE -p workload=no.such.Workload",
        "run -P FILE -p maxexecutiontime=1m",
        "run -P FILE.gone"
      })
  void rejectsInvalidArgumentsInOneLine(String line) {
    assertThatThrownBy(() -> parse(line.replace("FILE", file)))
        .isInstanceOf(InvalidPropertyException.class)
        .message()
        .isNotBlank()
        .doesNotContain("\n");
  }

  private static LauncherArguments parse(String line) {
    return LauncherArguments.parse(List.of(line.split(" ")));
  }
}
