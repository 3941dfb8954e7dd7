package dev.onehop.testbed;

import dev.onehop.testbed.internal.binaries.BinaryFinder;
import dev.onehop.testbed.internal.process.Ports;
import dev.onehop.testbed.internal.process.ServerProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A {@code mongod} on this machine that belongs to no topology, such as a member of a replica set
 * that the caller initiates. The process ends with the JVM at the latest. Thread-safe.
 */
public final class MongodProcess implements AutoCloseable {

  private final ServerProcess process;
  private final Thread hook;

  private MongodProcess(ServerProcess process) {
    this.process = process;
    this.hook = new Thread(process::kill, "stop-" + process.name());
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /**
   * Finds the program as {@link Testbed} does, or downloads it.
   *
   * @param mongod an explicit path; null to search for it
   * @param progress receives a line when a download begins, because a download may take minutes
   * @throws TestbedException if there is no mongod and the download fails
   */
  public static Path find(@Nullable Path mongod, Consumer<String> progress) {
    Map<String, String> environment = System.getenv();
    return new BinaryFinder(BinaryFinder.cacheFolder(environment), environment, progress)
        .find(mongod, null)
        .mongod()
        .path();
  }

  /**
   * Returns an address with a port that is free at the moment.
   *
   * @param ip an address of this machine, such as {@code 127.0.0.1}
   * @return {@code ip:port}
   * @throws TestbedException if this machine cannot listen on the address
   */
  public static String freeAddress(String ip) {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getByName(ip))) {
      return ip + ":" + free.getLocalPort();
    } catch (IOException e) {
      throw new TestbedException("cannot listen on " + ip + ": " + e.getMessage(), e);
    }
  }

  /**
   * Returns the program and the arguments of a member of a replica set, with settings for several
   * members on a small machine.
   *
   * @param address {@code ip:port} to listen on
   * @param data the server's data folder
   */
  public static List<String> command(
      Path mongod, String replicaSet, String address, Path data, int oplogMebibytes) {
    int colon = address.lastIndexOf(':');
    List<String> command = new ArrayList<>(List.of(mongod.toString()));
    command.addAll(List.of("--replSet", replicaSet, "--dbpath", data.toString()));
    command.addAll(List.of("--bind_ip", address.substring(0, colon)));
    command.addAll(List.of("--port", address.substring(colon + 1), "--nounixsocket"));
    command.addAll(List.of("--wiredTigerCacheSizeGB", "0.5"));
    command.addAll(List.of("--oplogSize", String.valueOf(oplogMebibytes)));
    command.addAll(List.of("--setParameter", "diagnosticDataCollectionEnabled=false"));
    return command;
  }

  /**
   * Starts a server.
   *
   * @param name the server's name in messages
   * @param command the result of {@link #command}, with additional options
   * @param address the address at which the server listens
   * @param data the server's data folder, created if it does not exist; the log is next to the
   *     folder
   * @throws TestbedException if the server can't be started
   */
  public static MongodProcess start(String name, List<String> command, String address, Path data) {
    int colon = address.lastIndexOf(':');
    Ports.requireFree(
        new InetSocketAddress(
            address.substring(0, colon), Integer.parseInt(address.substring(colon + 1))));
    try {
      Files.createDirectories(data);
    } catch (IOException e) {
      throw new TestbedException("cannot create " + data + ": " + e.getMessage(), e);
    }
    Path log = data.resolveSibling(data.getFileName() + ".log");
    return new MongodProcess(ServerProcess.start(name, command, log, log));
  }

  /** Returns the process id. */
  public long pid() {
    return process.pid();
  }

  /** Whether the process is still running. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Calls the listener once, on another thread, if the process ends without {@link #close}. */
  public void onDeath(Consumer<ProcessFailure> listener) {
    process.onDeath(listener);
  }

  /** Kills the process, and waits until it has ended. */
  @Override
  public void close() {
    process.kill();
    process.awaitEnd();
    try {
      boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is shutting down, so the hook can no longer be removed.
    }
  }
}
