package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The binding in an unmodified installation of YCSB 0.17, whose jars are in {@code lib}. OneHop's
 * jars are in the folder that YCSB's launcher derives from a binding's name: the part before the
 * dash. The test runs {@code site.ycsb.Client} with the launcher's class path.
 */
@Tag("nightly")
@ShardedCluster
class UpstreamDropInIT {
  private static final Path HOME = Path.of(System.getProperty("onehop.home"));
  private static final int RECORDS = 200;

  @TempDir static Path install;

  private static SharedCluster cluster;
  private static Testbed testbed;

  @BeforeAll
  static void start(SharedCluster shared) throws IOException {
    cluster = shared;
    testbed = cluster.testbed();
    copyJars(HOME.resolve("src-it/target/upstream-ycsb/lib"), install.resolve("lib"));
    for (String folder :
        List.of("legacy-binding", "async-binding", "targeted-binding", "direct-binding")) {
      layOutBinding(install.resolve(folder).resolve("lib"));
    }
    Files.createDirectories(install.resolve("conf"));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "legacy, dev.onehop.ycsb.LegacyClient",
    "async, dev.onehop.ycsb.AsyncClient",
    "targeted-async, dev.onehop.ycsb.TargetedAsyncClient",
    "targeted-sync, dev.onehop.ycsb.TargetedSyncClient",
    "direct-async, dev.onehop.ycsb.DirectAsyncClient",
    "direct-sync, dev.onehop.ycsb.DirectSyncClient"
  })
  void loadsAndRuns(String binding, String databaseClass) throws Exception {
    String table = binding.replace("-", "");
    testbed.shardCollection(
        cluster.namespace(table),
        new BsonDocument("_id", new BsonInt32(1)),
        List.of(
            new BsonDocument("_id", new BsonString("user4")),
            new BsonDocument("_id", new BsonString("user7"))));

    String loaded = ycsb(binding, databaseClass, "-load", table);
    assertThat(loaded).contains("[INSERT], Return=OK, " + RECORDS);
    try (MongoClient plain = MongoClients.create(testbed.url())) {
      assertThat(plain.getDatabase(cluster.database()).getCollection(table).countDocuments())
          .isEqualTo(RECORDS);
    }

    String ran = ycsb(binding, databaseClass, "-t", table);
    assertThat(ran).contains("[READ], Return=OK").contains("[UPDATE], Return=OK");
    assertThat(ran).doesNotContain("FAILED").doesNotContain("Return=ERROR");
  }

  @Test
  void launcherFolderIsNameBeforeDash() throws IOException {
    List<String> registered =
        Files.readAllLines(HOME.resolve("bin/bindings.properties")).stream()
            .filter(line -> !line.startsWith("#") && !line.isBlank())
            .toList();

    assertThat(registered)
        .allSatisfy(
            line -> {
              String folder = line.substring(0, line.indexOf(':')).split("-", -1)[0] + "-binding";
              assertThat(install.resolve(folder).resolve("lib")).isNotEmptyDirectory();
            });
  }

  /** Runs YCSB with the class path of its launcher: conf, lib and the binding's lib. */
  private static String ycsb(String binding, String databaseClass, String phase, String table)
      throws IOException, InterruptedException {
    Path own = install.resolve(binding.split("-", -1)[0] + "-binding").resolve("lib");
    String classPath =
        String.join(
            ":", install.resolve("conf").toString(), install.resolve("lib") + "/*", own + "/*");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                classPath,
                "site.ycsb.Client",
                "-db",
                databaseClass,
                phase,
                "-threads",
                "4",
                "-P",
                HOME.resolve("workloads/workloada").toString()));
    for (String property :
        List.of(
            "table=" + table,
            "recordcount=" + RECORDS,
            "operationcount=" + RECORDS,
            "mongodb.url=" + testbed.url() + "/" + cluster.database() + "?w=1")) {
      command.add("-p");
      command.add(property);
    }
    Path output = Files.createTempFile(install, "ycsb", ".log");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("YCSB ended in time").isTrue();
    } finally {
      process.destroyForcibly();
    }
    String printed = Files.readString(output, StandardCharsets.UTF_8);
    assertThat(process.exitValue()).as(printed).isZero();
    return printed;
  }

  /**
   * Copies the jars of the binding and of its dependencies, except the jars that YCSB already has.
   */
  private static void layOutBinding(Path lib) throws IOException {
    Path module = HOME.resolve("ycsb-binding/target");
    copyJars(module.resolve("lib"), lib);
    copyJars(module, lib);
    try (Stream<Path> jars = Files.list(lib)) {
      for (Path jar : jars.toList()) {
        if (Files.exists(install.resolve("lib").resolve(jar.getFileName()))) {
          Files.delete(jar);
        }
      }
    }
  }

  private static void copyJars(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path jar : files.filter(file -> file.toString().endsWith(".jar")).toList()) {
        Files.copy(jar, to.resolve(jar.getFileName()));
      }
    }
  }
}
