package dev.onehop.testbed.internal.process;

import dev.onehop.testbed.TestbedException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Checks whether addresses are free, and finds the owners of addresses in use. */
public final class Ports {
  private static final int ATTEMPTS = 10;
  private static final long PAUSE_NANOS = 30_000_000;

  private Ports() {}

  /**
   * Checks that an address is free.
   *
   * @throws TestbedException if the address is in use; the message is one line with the address
   *     and, if known, the process that uses it
   */
  public static void requireFree(InetSocketAddress address) {
    for (int attempt = 1; ; attempt++) {
      try (ServerSocket probe = new ServerSocket()) {
        probe.setReuseAddress(true);
        probe.bind(address);
        return;
      } catch (IOException e) {
        // A process that another thread starts has the sockets of this JVM until its program runs.
        if (attempt == ATTEMPTS) {
          throw new TestbedException(taken(address, e));
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  private static String taken(InetSocketAddress address, IOException cause) {
    String where = address.getAddress().getHostAddress() + ":" + address.getPort();
    boolean taken = false;
    for (ProcFs.TcpSocket socket : ProcFs.tcpSockets()) {
      boolean same = socket.local().equals(address);
      boolean all =
          socket.local().getPort() == address.getPort()
              && socket.local().getAddress().isAnyLocalAddress();
      // The message names a listener rather than a connection. The address may also have open
      // connections of an earlier listener.
      if (socket.listening() && (same || all)) {
        return where + " is taken" + owner(socket.inode());
      }
      taken |= same;
    }
    if (taken) {
      return where + " is taken by a connection";
    }
    return "cannot listen on %s: %s".formatted(where, cause.getMessage());
  }

  private static String owner(long inode) {
    Map<Long, Long> owners = ProcFs.socketOwners(Set.of(inode), ProcFs.pids());
    @Nullable Long pid = owners.get(inode);
    if (pid == null) {
      return " by another process";
    }
    List<String> command = ProcFs.commandLine(pid);
    String program = command.isEmpty() ? "" : command.get(0);
    return " by process %d (%s)".formatted(pid, program.substring(program.lastIndexOf('/') + 1));
  }
}
