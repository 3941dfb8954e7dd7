package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.cli.OneHopCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Makes members of a replica set with access control and TLS. The user has only the documented
 * roles, and its password appears nowhere.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("full")
class ResyncSecuredIT {

  /** The two forms of the password: unchanged, and encoded for a URL. */
  private static final List<String> SECRETS =
      List.of(ResyncSet.OPERATOR_PASSWORD, "Zx9%2Foperator");

  private Path folder;
  private TestCertificates certificates;
  private ResyncSet set;

  /** The result of a command, and the processes that showed the password while it ran. */
  private record CommandResult(
      int exitCode, String stdout, String stderr, TreeSet<String> exposed) {}

  @BeforeAll
  void start(@TempDir Path temporary) throws Exception {
    folder = temporary;
    certificates = TestCertificates.create();
    set = new ResyncSet(folder, certificates);
  }

  @AfterAll
  void stop() throws Exception {
    set.close();
  }

  @AfterEach
  void assertUnlockedAndRemoveTargets() throws Exception {
    assertThat(set.isLocked()).isFalse();
    set.removeTargets();
  }

  private CommandResult run(String password, String host, Path dbpath, String... more)
      throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                OneHopCommand.class.getName(),
                "resync",
                "run",
                "--url",
                set.url(),
                "--tls-ca",
                certificates.authorityPem().toString(),
                "--to",
                host,
                "--dbpath",
                dbpath.toString(),
                "--start",
                set.start()));
    command.addAll(List.of(more));
    Path out = folder.resolve("tool.out");
    Path err = folder.resolve("tool.err");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().put("ONEHOP_PASSWORD", password);
    Process tool = builder.start();
    TreeSet<String> exposed = new TreeSet<>();
    while (!tool.waitFor(100, TimeUnit.MILLISECONDS)) {
      exposed.addAll(filesWithSecret("cmdline"));
    }
    // Also checks the environment of the started servers, which still run.
    exposed.addAll(filesWithSecret("environ"));
    return new CommandResult(
        tool.exitValue(), Files.readString(out), Files.readString(err), exposed);
  }

  /** The processes that have the password in this file under {@code /proc}. */
  private static List<String> filesWithSecret(String file) throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
      for (Path process : processes.toList()) {
        if (hasSecret(process.resolve(file))) {
          found.add(process + "/" + file);
        }
      }
    }
    return found;
  }

  private static boolean hasSecret(Path file) {
    try {
      String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
      return SECRETS.stream().anyMatch(text::contains);
    } catch (IOException e) {
      return false; // The process has ended, or the folder is not that of a process.
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"files", "logical"})
  void createsMemberWithDocumentedRoles(String method) throws Exception {
    String host = set.free();
    Path dbpath = set.target(method);

    CommandResult ended =
        run(ResyncSet.OPERATOR_PASSWORD, host, dbpath, "--method", method, "--json", "--hidden");

    assertThat(ended.exitCode()).as(ended.stderr()).isZero();
    JsonNode result = new ObjectMapper().readTree(ended.stdout());
    assertThat(result.path("method").asText()).isEqualTo(method);
    JsonNode member = result.path("members").get(0);
    assertThat(member.path("host").asText()).isEqualTo(host);
    assertThat(member.path("seconds").asDouble()).isPositive();
    assertThat(member.path("bytes").asLong()).isPositive();
    assertThat(member.path("proof").asText())
        .contains(method.equals("files") ? "No initial sync required" : "method logical");
    assertThat(member.path("lockedSeconds").isNumber()).isEqualTo(method.equals("files"));
    assertThat(set.admin(host, "hello").getBoolean("secondary")).isTrue();
    set.writeAndAwait(host, set.source());
    assertThat(set.hash(host)).isEqualTo(set.hash(set.primary()));

    assertThat(ended.exposed()).isEmpty();
    assertThat(ended.stdout() + ended.stderr()).doesNotContain(SECRETS);
    for (Path log : List.of(dbpath.resolve("onehop-start.log"), folder.resolve("member1.log"))) {
      assertThat(hasSecret(log)).as(log.toString()).isFalse();
    }
  }

  @Test
  void wrongPasswordChangesNothing() throws Exception {
    Document before = set.config();
    Path dbpath = set.target("wrong");

    CommandResult ended = run("wrong-Zx9%2Foperator", set.free(), dbpath);

    assertThat(ended.stderr()).contains("onehop: ").doesNotContain(SECRETS);
    assertThat(ended.exitCode()).isNotZero();
    assertThat(ended.stdout()).isEmpty();
    assertThat(set.config()).isEqualTo(before);
    assertThat(dbpath).doesNotExist();
  }
}
