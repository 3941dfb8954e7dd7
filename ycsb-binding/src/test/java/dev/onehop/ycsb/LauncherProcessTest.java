package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Exit codes and messages of real processes, without a reachable server. */
class LauncherProcessTest {
  private static final String UNREACHABLE =
      "mongodb.url=mongodb://user:secret@127.0.0.1:1/ycsb?serverSelectionTimeoutMS=300";
  private static final String REFUSED =
      "onehop: cannot use 127.0.0.1:1 (mongodb.url): Connection refused";
  private static final String WORKLOAD = Path.of("workloads", "workloada").toString();

  @ParameterizedTest
  @ValueSource(strings = {"load", "run", "shell"})
  void unreachableClusterPrintsOneLineAndExits1(String command) throws Exception {
    EndedProcess ended =
        java(
            "dev.onehop.ycsb.Launcher",
            command,
            "-db",
            binding(),
            "-p",
            UNREACHABLE,
            "-P",
            WORKLOAD);

    assertThat(ended.errors()).containsExactly(REFUSED);
    assertThat(ended.exitCode()).isEqualTo(1);
  }

  @Test
  void wrongPropertyPrintsOneLineAndExits2() throws Exception {
    EndedProcess ended =
        java(
            "dev.onehop.ycsb.Launcher",
            "run",
            "-db",
            binding(),
            "-P",
            WORKLOAD,
            "-p",
            "onehop.connections=few");

    assertThat(ended.errors())
        .containsExactly(
            "onehop: onehop.connections must be a whole number from 1 to 2147483647, not \"few\"");
    assertThat(ended.exitCode()).isEqualTo(2);
  }

  @Test
  void unmodifiedYcsbPrintsOneLineAndExits1() throws Exception {
    EndedProcess ended =
        java(
            "site.ycsb.Client",
            "-t",
            "-db",
            binding(),
            "-P",
            WORKLOAD,
            "-threads",
            "8",
            "-p",
            UNREACHABLE);

    assertThat(ended.errors())
        .filteredOn(line -> line.startsWith("onehop:"))
        .containsExactly(REFUSED);
    assertThat(ended.errors()).noneMatch(line -> line.contains("Exception"));
    assertThat(ended.exitCode()).isEqualTo(1);
  }

  @Test
  void keepsExitCodeOfOtherBinding() throws Exception {
    EndedProcess ended =
        java(
            "dev.onehop.ycsb.Launcher",
            "run",
            "-db",
            "site.ycsb.BasicDB",
            "-P",
            WORKLOAD,
            "-p",
            "basicdb.verbose=false");

    assertThat(ended.exitCode()).isZero();
  }

  private static String binding() {
    return AsyncClient.class.getName();
  }

  private static EndedProcess java(String... arguments) throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path")));
    command.addAll(List.of(arguments));
    return EndedProcess.run(new ProcessBuilder(command));
  }
}
