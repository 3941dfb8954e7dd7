package dev.onehop.testbed;

import dev.onehop.testbed.evidence.CpuTimes;
import dev.onehop.testbed.evidence.ServerUsage;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.link.Callers;
import dev.onehop.testbed.internal.link.Links;
import dev.onehop.testbed.internal.process.ProcFs;
import dev.onehop.testbed.internal.process.RunningServer;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The resources that a run must release at its end: servers, links, and the resources of the
 * platform. A shutdown hook of the JVM closes them. Thread-safe.
 */
final class RunResources implements AutoCloseable {
  /**
   * Ctrl-C reaches the servers and this process at the same time, so a server may end before this
   * process begins to close. If the process begins to close within this time, the server's end is
   * no failure.
   */
  private static final long GRACE_MILLIS = 400;

  private final Platform platform;
  private final Links links;

  private record Started(Server server, RunningServer running) {}

  private final List<Started> servers = new ArrayList<>();
  private final List<Consumer<ProcessFailure>> listeners = new CopyOnWriteArrayList<>();
  private final Thread hook = new Thread(this::close, "onehop-testbed-stop");
  private boolean closing;
  private @Nullable ProcessFailure failure;

  RunResources(Platform platform, Links links) {
    this.platform = platform;
    this.links = links;
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException e) {
      platform.close();
      throw new TestbedException("this JVM is shutting down", e);
    }
  }

  Platform platform() {
    return platform;
  }

  ClusterPlan plan() {
    return platform.plan();
  }

  Links links() {
    return links;
  }

  /** Starts a server that ends with this run. */
  RunningServer start(Server server, Callers callers) {
    requireOpen();
    RunningServer started = platform.launch(server, callers);
    synchronized (this) {
      servers.add(new Started(server, started));
      if (!closing) {
        started.onDeath(this::died);
        return started;
      }
    }
    started.kill();
    throw stopped();
  }

  private synchronized void requireOpen() {
    if (closing) {
      throw stopped();
    }
  }

  private static TestbedException stopped() {
    return new TestbedException("the testbed is shutting down");
  }

  /** Whether the run is being closed. */
  synchronized boolean isClosing() {
    return closing;
  }

  /** Freezes a server, or resumes it. */
  void setFrozen(String advertised, boolean frozen) {
    find(advertised).running().setFrozen(frozen);
  }

  /** Kills a server. The end of this server does not count as a failure. */
  void kill(String advertised) {
    RunningServer running = find(advertised).running();
    running.kill();
    running.awaitEnd();
  }

  /** Starts a killed server again, and waits until it listens. */
  void restart(String advertised) {
    Started killed = find(advertised);
    if (killed.running().isAlive()) {
      throw new IllegalArgumentException(advertised + " runs");
    }
    synchronized (this) {
      servers.remove(killed);
    }
    TestbedStarter.awaitListening(killed.server(), start(killed.server(), links.callers()));
  }

  private synchronized Started find(String advertised) {
    return servers.stream()
        .filter(each -> each.server().advertised().equals(advertised))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no server " + advertised));
  }

  /** The processor time that servers and links have used so far. */
  CpuTimes cpuTimes() {
    List<Started> all;
    synchronized (this) {
      all = List.copyOf(servers);
    }
    return new CpuTimes(
        sum(all, server -> server.role() == Server.Role.ROUTER),
        sum(all, server -> server.role() != Server.Role.ROUTER),
        ProcessHandle.current().info().totalCpuDuration().orElse(null));
  }

  boolean pin(String routers, String mongods) {
    List<Started> all;
    synchronized (this) {
      all = List.copyOf(servers);
    }
    return all.stream()
        .allMatch(
            each ->
                each.running().pin(each.server().role() == Server.Role.ROUTER ? routers : mongods));
  }

  void limitRouters(double processors) {
    List<Started> all;
    synchronized (this) {
      all = List.copyOf(servers);
    }
    all.stream()
        .filter(each -> each.server().role() == Server.Role.ROUTER)
        .forEach(each -> each.running().limit(processors));
  }

  /**
   * The present resource use of the servers, without servers that report none.
   *
   * <p>Only sockets at the address where a process listens are counted. If a client connects
   * through a link, only the connection from the link to the process counts.
   */
  List<ServerUsage> usage() {
    List<Started> all;
    synchronized (this) {
      all = List.copyOf(servers);
    }
    Map<InetSocketAddress, Integer> sockets = new HashMap<>();
    for (ProcFs.TcpSocket socket : ProcFs.tcpSockets()) {
      if (!socket.listening() && socket.inode() != 0) {
        sockets.merge(socket.local(), 1, Integer::sum);
      }
    }
    List<ServerUsage> usage = new ArrayList<>();
    for (Started started : all) {
      Server server = started.server();
      started
          .running()
          .residentBytes()
          .ifPresent(
              bytes ->
                  usage.add(
                      new ServerUsage(
                          server.advertised(),
                          server.host().name(),
                          server.role() == Server.Role.ROUTER,
                          sockets.getOrDefault(server.listenAddress(), 0),
                          bytes)));
    }
    return usage;
  }

  private static @Nullable Duration sum(List<Started> servers, Predicate<Server> which) {
    Duration sum = Duration.ZERO;
    for (Started started : servers) {
      if (which.test(started.server())) {
        @Nullable Duration used = started.running().cpuTime().orElse(null);
        if (used == null) {
          return null;
        }
        sum = sum.plus(used);
      }
    }
    return sum;
  }

  void onProcessDeath(Consumer<ProcessFailure> listener) {
    @Nullable ProcessFailure already;
    synchronized (this) {
      listeners.add(listener);
      already = failure;
    }
    if (already != null) {
      listener.accept(already);
    }
  }

  private void died(ProcessFailure died) {
    CompletableFuture.delayedExecutor(GRACE_MILLIS, TimeUnit.MILLISECONDS)
        .execute(
            () -> {
              synchronized (this) {
                if (closing) {
                  return;
                }
                failure = died;
              }
              listeners.forEach(listener -> listener.accept(died));
            });
  }

  @Override
  public void close() {
    List<RunningServer> toEnd;
    synchronized (this) {
      if (closing) {
        return;
      }
      closing = true;
      toEnd = servers.stream().map(Started::running).toList();
    }
    toEnd.forEach(RunningServer::kill);
    links.close();
    toEnd.forEach(RunningServer::awaitEnd);
    platform.close();
    try {
      boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is shutting down, so the hook can no longer be removed.
    }
  }
}
