package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.cli.OneHopCommand;
import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.ClusterSource;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Progress;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The bench on a cluster that it has not started. The cluster is one of the testbed, but the bench
 * uses only its mongoses, and not the testbed's evidence.
 */
@Tag("nightly")
class BenchUrlIT {

  @TempDir private Path folder;

  private record Result(int exitCode, String out, String err) {}

  @Test
  void measuresRunningClusterAndReportsUnknownValues() throws Exception {
    try (Testbed testbed = Testbed.builder(Topology.named("single-host")).start()) {
      Result first = bench(testbed.url(), "first", "--modes", "legacy,targeted-async");
      assertThat(first.exitCode()).as(first.err()).isZero();

      JsonNode results = new ObjectMapper().readTree(folder.resolve("first/results.json").toFile());
      assertThat(results.path("points")).hasSize(2);
      for (JsonNode point : results.path("points")) {
        assertThat(point.path("errors").asLong()).isZero();
        assertThat(point.path("operations").asLong()).isPositive();
        // The counters of the shards give each shard's share. Without profilers, no record shows
        // the mongos of an operation, so besideOwner is null.
        assertThat(point.path("share")).hasSize(3);
        assertThat(point.path("besideOwner").isNull()).isTrue();
      }
      assertThat(results.path("run").path("placement").isNull()).isTrue();
      assertThat(results.path("run").path("missing").toString())
          .contains("the mongos of each operation")
          .doesNotContain("each shard's share");
      assertThat(results.path("topology").path("rttMillis").path("measured").has("here-127.30.0.1"))
          .isTrue();
      assertThat(first.out()).contains("Unknown: the mongos of each operation");

      Result second = bench(testbed.url(), "second", "--modes", "legacy");
      assertThat(second.exitCode()).isEqualTo(2);
      assertThat(second.err())
          .contains("ycsb.usertable has 300 documents; --overwrite deletes them");
      Result third = bench(testbed.url(), "third", "--modes", "legacy", "--overwrite");
      assertThat(third.exitCode()).as(third.err()).isZero();
    }
  }

  /**
   * A scenario freezes or ends mongoses, and they are still in this state when the next cell
   * begins.
   */
  @Test
  void keepsMeasuredRoundTripsWithoutMongoses() throws Exception {
    BenchCluster cluster;
    try (Testbed testbed = Testbed.builder(Topology.named("single-host")).start()) {
      cluster = ClusterSource.at(ClusterUrl.open(testbed.url()), false).open(Progress.silent());
    }
    try (cluster) {
      assertThat(cluster.shardRoundTrips()).hasSize(3);
    }
  }

  /**
   * No mongos with access control is available, so the URL names a mongod. If the password and the
   * authority are correct, the bench connects, and reports that this server is not a mongos.
   */
  @Test
  void connectsWithPasswordAndCertificateAuthority() throws Exception {
    TestCertificates certificates = TestCertificates.create();
    try (RealMongod mongod = RealMongod.startWithTls(certificates)) {
      String url = "mongodb://root@localhost:" + mongod.port() + "/?tls=true&authSource=admin";
      String authority = certificates.authorityPem().toString();

      assertThat(process(RealMongod.PASSWORD, "--url", url, "--tls-ca", authority).err())
          .contains("localhost:" + mongod.port() + " is not a mongos");
      assertThat(process("wrong", "--url", url, "--tls-ca", authority).err())
          .contains("Exception authenticating");
      assertThat(process(RealMongod.PASSWORD, "--url", url).err())
          .contains("unable to find valid certification path");
      assertThat(process("", "--url", url, "--tls-ca", authority).err())
          .contains("--url names the user root: set ONEHOP_PASSWORD as well");
    }
  }

  private Result bench(String url, String out, String... more) {
    System.setProperty("onehop.home", Path.of("..").toAbsolutePath().normalize().toString());
    List<String> arguments =
        new ArrayList<>(
            List.of("bench", "--url", url, "--threads", "4", "--duration", "2s", "--warmup", "1s"));
    arguments.addAll(List.of("--records", "300", "--connections", "4", "--pipelining", "off"));
    arguments.addAll(List.of("--out", folder.resolve(out).toString()));
    arguments.addAll(List.of(more));
    StringWriter stdout = new StringWriter();
    StringWriter stderr = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(stdout))
            .setErr(new PrintWriter(stderr))
            .execute(arguments.toArray(String[]::new));
    return new Result(exitCode, stdout.toString(), stderr.toString());
  }

  /**
   * Runs the bench in another process, because the environment variables of this process can't be
   * set.
   */
  private Result process(String password, String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Donehop.home=" + Path.of("..").toAbsolutePath().normalize(),
                "-cp",
                System.getProperty("java.class.path"),
                OneHopCommand.class.getName(),
                "bench",
                "--out",
                folder.resolve("refused").toString()));
    command.addAll(List.of(arguments));
    Path err = folder.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(err.toFile());
    builder.environment().put("ONEHOP_PASSWORD", password);
    Process process = builder.start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new Result(process.exitValue(), "", Files.readString(err));
  }
}
