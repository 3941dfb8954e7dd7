package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import dev.onehop.copy.progress.CopyPhase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The passwords of a copy and of a verification appear in no command line, log, state or result.
 */
@Tag("alone")
@Tag("full")
class CopySecretsIT {
  private static final String SECRET = "horse";
  private static final String LOG_EVERYTHING =
      """
      <configuration>
        <appender name="E" class="ch.qos.logback.core.ConsoleAppender">
          <target>System.err</target>
          <encoder><pattern>%logger %level %msg%n</pattern></encoder>
        </appender>
        <root level="DEBUG"><appender-ref ref="E"/></root>
      </configuration>
      """;

  @TempDir private Path folder;
  private int runs;

  private record Run(Process process, Path out, Path err) {
    int end() throws InterruptedException {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      return process.exitValue();
    }
  }

  @Test
  void passwordsAreNeitherStoredNorLogged() throws Exception {
    assertThat(RealMongod.PASSWORD).contains(SECRET);
    try (RealMongod source = RealMongod.startWithAuthentication();
        RealMongod destination = RealMongod.startWithAuthentication();
        MongoClient from = client(source);
        MongoClient to = client(destination)) {
      from.getDatabase("safe")
          .getCollection("docs")
          .insertMany(IntStream.range(0, 1_000).mapToObj(i -> new Document("_id", i)).toList());
      String fromUrl = asUser(source);
      String toUrl = asUser(destination);
      Run copy =
          start(
              RealMongod.PASSWORD,
              "copy",
              "--from",
              fromUrl,
              "--to",
              toUrl,
              "--include",
              "safe",
              "--json");
      try {
        awaitChanges(copy, to);
        assertThat(
                Files.readString(Path.of("/proc", Long.toString(copy.process().pid()), "cmdline")))
            .contains(fromUrl)
            .doesNotContain(SECRET);
        assertThat(start(RealMongod.PASSWORD, "copy", "finish", "--to", toUrl).end()).isZero();
        assertThat(copy.end()).isZero();
      } finally {
        copy.process().destroyForcibly();
      }
      assertThat(to.getDatabase("safe").getCollection("docs").countDocuments()).isEqualTo(1_000);
      assertThat(
              start(
                      RealMongod.PASSWORD,
                      "verify",
                      "--from",
                      fromUrl,
                      "--to",
                      toUrl,
                      "--include",
                      "safe",
                      "--state",
                      folder.resolve("verify.json").toString())
                  .end())
          .isZero();
      assertThat(
              start("another " + SECRET, "copy", "--from", fromUrl, "--to", toUrl, "--job", "other")
                  .end())
          .isNotZero();

      assertThat(state(to)).isNotEmpty().noneMatch(document -> document.contains(SECRET));
      try (var written = Files.list(folder)) {
        for (Path file : written.toList()) {
          assertThat(Files.readString(file)).as(file.toString()).doesNotContain(SECRET);
        }
      }
      // This line shows that the log is complete. In an incomplete log, the test could miss a
      // password.
      assertThat(Files.readString(copy.err())).contains("DEBUG");
    }
  }

  private static MongoClient client(RealMongod mongod) {
    return MongoClients.create(CopyIT.as(mongod, RealMongod.ADMIN, RealMongod.PASSWORD));
  }

  private static String asUser(RealMongod mongod) {
    return mongod.url().replace("mongodb://", "mongodb://" + RealMongod.ADMIN + "@");
  }

  private Run start(String password, String... arguments) throws IOException {
    Path logging = Files.writeString(folder.resolve("logback.xml"), LOG_EVERYTHING);
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dlogback.configurationFile=" + logging,
                "-cp",
                System.getProperty("java.class.path"),
                "dev.onehop.cli.OneHopCommand"));
    command.addAll(List.of(arguments));
    Path out = folder.resolve(++runs + ".out");
    Path err = folder.resolve(runs + ".err");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().put("ONEHOP_FROM_PASSWORD", password);
    builder.environment().put("ONEHOP_TO_PASSWORD", password);
    return new Run(builder.start(), out, err);
  }

  private static void awaitChanges(Run copy, MongoClient to) {
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> {
              assertThat(copy.process().isAlive()).as(Files.readString(copy.err())).isTrue();
              return state(to).stream().anyMatch(s -> s.contains(CopyPhase.INCREMENTAL.name()));
            });
  }

  private static List<String> state(MongoClient to) {
    MongoDatabase state = to.getDatabase("onehop_copy");
    List<String> documents = new ArrayList<>();
    for (String name : state.listCollectionNames()) {
      for (Document document : state.getCollection(name).find()) {
        documents.add(document.toJson());
      }
    }
    return documents;
  }
}
