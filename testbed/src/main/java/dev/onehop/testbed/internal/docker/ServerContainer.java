package dev.onehop.testbed.internal.docker;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.async.ResultCallback;
import com.github.dockerjava.api.exception.DockerException;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.WaitResponse;
import dev.onehop.testbed.ProcessFailure;
import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.internal.process.LogTail;
import dev.onehop.testbed.internal.process.RunningServer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;
import org.testcontainers.utility.DockerImageName;

/** A server in a container. Thread-safe. */
public final class ServerContainer implements RunningServer {
  private static final int LOG_LINES = 12;

  private final String name;
  private final DockerClient docker;
  private final GenericContainer<?> container;
  private final CompletableFuture<Integer> ended = new CompletableFuture<>();
  private volatile boolean stopped;
  private volatile @Nullable CompletableFuture<Void> ending;

  private ServerContainer(String name, DockerClient docker, GenericContainer<?> container) {
    this.name = name;
    this.docker = docker;
    this.container = container;
  }

  /**
   * The network and host name of a container.
   *
   * @param hostName the machine's name inside the container
   * @param address the container's address in the network
   * @param mounts folders and files of this machine that the container may read
   */
  public record Place(Network network, String hostName, String address, List<Bind> mounts) {}

  /**
   * Starts a container. Does not wait for the server in the container.
   *
   * @param name the server's name in messages
   * @param command the program and its arguments, in place of the image's command
   * @throws TestbedException if the container can't be started
   */
  public static ServerContainer start(
      DockerClient docker, String name, Image image, List<String> command, Place place) {
    GenericContainer<?> container = new GenericContainer<>(DockerImageName.parse(image.name()));
    container
        .withNetwork(place.network())
        .withCreateContainerCmdModifier(
            cmd -> {
              cmd.withEntrypoint(command)
                  .withHostName(place.hostName())
                  .withIpv4Address(place.address());
              if (!place.mounts().isEmpty()) {
                cmd.getHostConfig().withBinds(place.mounts());
              }
            })
        .waitingFor(
            new AbstractWaitStrategy() {
              @Override
              protected void waitUntilReady() {
                // No wait strategy: the start of the cluster waits until the servers are ready.
              }
            });
    ServerContainer started = new ServerContainer(name, docker, container);
    try {
      container.start();
    } catch (ContainerLaunchException e) {
      throw new TestbedException("cannot start %s: %s".formatted(name, Engine.reason(e)), e);
    }
    started.watch();
    return started;
  }

  private void watch() {
    var unused =
        docker
            .waitContainerCmd(container.getContainerId())
            .exec(
                new ResultCallback.Adapter<WaitResponse>() {
                  @Override
                  public void onNext(WaitResponse response) {
                    Integer code = response.getStatusCode();
                    ended.complete(code == null ? -1 : code);
                  }
                });
  }

  @Override
  public boolean isAlive() {
    return !ended.isDone();
  }

  @Override
  public ProcessFailure failure() {
    return new ProcessFailure(name, ended.getNow(-1), lastLogLines());
  }

  @Override
  public List<String> lastLogLines() {
    return LogTail.ofText(output(), LOG_LINES);
  }

  @Override
  public String output() {
    try {
      return container.getLogs();
    } catch (DockerException | IllegalStateException e) {
      return ""; // the container is gone
    }
  }

  @Override
  public void onDeath(Consumer<ProcessFailure> listener) {
    var unused =
        ended.thenAcceptAsync(
            code -> {
              if (!stopped) {
                listener.accept(failure());
              }
            });
  }

  /** Ends and removes the container with its data. */
  @Override
  public void kill() {
    stopped = true;
    ending = CompletableFuture.runAsync(container::stop);
  }

  @Override
  public void awaitEnd() {
    CompletableFuture<Void> waitFor = ending;
    try {
      if (waitFor != null) {
        waitFor.get(30, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (java.util.concurrent.ExecutionException | TimeoutException e) {
      // Testcontainers' reaper removes the container later.
    }
  }
}
