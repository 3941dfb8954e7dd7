package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/**
 * The scripts that make users, run by {@code mongosh} if there is one on the PATH or where {@code
 * onehop.it.mongosh} says; a test is skipped if not.
 */
final class UserScript {
  private UserScript() {}

  /**
   * Runs a script as the administrator of a cluster.
   *
   * @param name of the file
   * @param options of the URI, beginning with an ampersand if there are any
   * @param environment besides who the shards' administrator is
   * @return what it has said
   */
  static String run(
      String name, SecuredCluster cluster, String options, Map<String, String> environment)
      throws IOException, InterruptedException {
    Path script = Path.of("../docker", name).toRealPath();
    List<String> command = new ArrayList<>(mongosh());
    command.addAll(
        List.of(
            cluster
                    .url()
                    .replace(
                        "//",
                        "//"
                            + RealMongod.ADMIN
                            + ":"
                            + RealMongod.PASSWORD.replace(" ", "%20")
                            + "@")
                + "?authSource=admin&directConnection=true"
                + options,
            "--quiet",
            "--file",
            script.toString()));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    builder.environment().put("ONEHOP_SHARD_ADMIN", RealMongod.ADMIN);
    builder.environment().put("ONEHOP_SHARD_ADMIN_PASSWORD", RealMongod.PASSWORD);
    Process process = builder.start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output;
  }

  private static List<String> mongosh() {
    String told = System.getProperty("onehop.it.mongosh", "");
    if (!told.isEmpty()) {
      return List.of(told.split(" "));
    }
    Optional<Path> found =
        Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
            .map(folder -> Path.of(folder, "mongosh"))
            .filter(Files::isExecutable)
            .findFirst();
    Assumptions.assumeTrue(found.isPresent(), "skipped: there is no mongosh");
    return List.of(found.orElseThrow().toString());
  }
}
