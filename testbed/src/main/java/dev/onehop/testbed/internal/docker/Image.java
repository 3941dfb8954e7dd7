package dev.onehop.testbed.internal.docker;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.exception.DockerClientException;
import com.github.dockerjava.api.exception.DockerException;
import com.github.dockerjava.api.exception.NotFoundException;
import dev.onehop.testbed.TestbedException;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.startupcheck.OneShotStartupCheckStrategy;
import org.testcontainers.utility.DockerImageName;

/**
 * An image with MongoDB's servers.
 *
 * @param name the image's name in Docker
 * @param mongod the version of its mongod
 * @param mongos the version of its mongos; null if the image has none
 * @param java whether the image has a Java runtime
 */
public record Image(String name, String mongod, @Nullable String mongos, boolean java) {
  private static final Pattern MONGOD = Pattern.compile("db version v(\\d+\\.\\d+\\.\\S+)");
  private static final Pattern MONGOS = Pattern.compile("mongos version v(\\d+\\.\\d+\\.\\S+)");
  private static final String QUESTIONS =
      "mongod --version; mongos --version; command -v java >/dev/null && echo has java; true";

  /**
   * Pulls an image if necessary, and inspects its content.
   *
   * @throws TestbedException if the image is not available or has no mongod
   */
  public static Image inspect(DockerClient docker, String name) {
    if (!isHere(docker, name)) {
      pull(docker, name);
    }
    String answers;
    try (GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(name))) {
      container
          .withCreateContainerCmdModifier(cmd -> cmd.withEntrypoint("sh", "-c", QUESTIONS))
          .withStartupCheckStrategy(
              new OneShotStartupCheckStrategy().withTimeout(Duration.ofSeconds(60)))
          .start();
      answers = container.getLogs();
    } catch (ContainerLaunchException | IllegalArgumentException e) {
      throw new TestbedException("image %s can't be run (%s)".formatted(name, Engine.reason(e)), e);
    }
    return of(name, answers);
  }

  private static boolean isHere(DockerClient docker, String name) {
    try {
      var unused = docker.inspectImageCmd(name).exec();
      return true;
    } catch (NotFoundException e) {
      return false;
    }
  }

  /**
   * Pulls an image without Testcontainers, which retries for two minutes even if the pull cannot
   * succeed.
   */
  private static void pull(DockerClient docker, String name) {
    try {
      var unused = docker.pullImageCmd(name).start().awaitCompletion();
    } catch (DockerException | DockerClientException e) {
      throw new TestbedException(
          "image %s is not on this machine and cannot be pulled (%s); pull or build it, or name another image"
              .formatted(name, Engine.reason(e)),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TestbedException("interrupted", e);
    }
  }

  static Image of(String name, String answers) {
    Matcher mongod = MONGOD.matcher(answers);
    Matcher mongos = MONGOS.matcher(answers);
    if (!mongod.find()) {
      throw new TestbedException(
          "image %s has no mongod; name an image with mongod, such as mongo:8.0".formatted(name));
    }
    return new Image(
        name,
        mongod.group(1),
        mongos.find() ? mongos.group(1) : null,
        answers.contains("has java"));
  }

  /**
   * Checks that the image has a router.
   *
   * @param standIns whether stand-in routers are allowed
   * @throws TestbedException if the image has no router
   */
  public void requireRouters(boolean standIns) {
    if (mongos == null && !standIns) {
      throw new TestbedException(
          "image %s has no mongos; name an image with mongos, such as mongo:8.0".formatted(name));
    }
    if (mongos == null && !java) {
      throw new TestbedException(
          "image %s has neither a mongos nor Java for a stand-in router; name an image with mongos, such as mongo:8.0, or build one with docker/local-image/build"
              .formatted(name));
    }
  }
}
