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
 * Runs the scripts that create users. They need {@code mongosh}, from the PATH or from the path in
 * {@code onehop.it.mongosh}. Without mongosh, a test is skipped.
 */
final class UserScript {
  private UserScript() {}

  /**
   * Runs a script as the administrator of a cluster.
   *
   * @param name the name of the file
   * @param options further options of the URI, beginning with an ampersand
   * @param environment environment variables for the script; this method adds those for the shards'
   *     administrator
   * @return the output of the script
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
    String configured = System.getProperty("onehop.it.mongosh", "");
    if (!configured.isEmpty()) {
      return List.of(configured.split(" "));
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
