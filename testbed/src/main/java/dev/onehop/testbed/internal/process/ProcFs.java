package dev.onehop.testbed.internal.process;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Linux' information about processes and TCP sockets under {@code /proc} (see proc(5)). Entries may
 * vanish during a read; vanished entries are left out.
 */
public final class ProcFs {
  private static final Path PROC = Path.of("/proc");
  private static final int LISTEN = 0x0A;
  private static final int START_TIME_AFTER_COMM = 19;

  private ProcFs() {}

  /**
   * A TCP socket of this network namespace. The addresses are IPv4 addresses; an IPv4 address that
   * is mapped to IPv6 is converted.
   */
  public record TcpSocket(
      InetSocketAddress local, InetSocketAddress remote, boolean listening, long inode) {}

  /** The start time of a process, in clock ticks since boot; empty if there is no such process. */
  public static OptionalLong startTicks(long pid) {
    try {
      String stat = Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.ISO_8859_1);
      // The second field is the command in parentheses and may contain blanks and parentheses.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      boolean zombie = fields[0].equals("Z") || fields[0].equals("X");
      return zombie
          ? OptionalLong.empty()
          : OptionalLong.of(Long.parseLong(fields[START_TIME_AFTER_COMM]));
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  /** The memory of a process that is in use (RSS), in bytes; empty if there is no such process. */
  public static OptionalLong residentBytes(long pid) {
    try {
      for (String line :
          Files.readAllLines(PROC.resolve(pid + "/status"), StandardCharsets.ISO_8859_1)) {
        if (line.startsWith("VmRSS:")) {
          return OptionalLong.of(Long.parseLong(line.replaceAll("\\D", "")) * 1024);
        }
      }
    } catch (IOException e) {
      // The process has ended.
    }
    return OptionalLong.empty();
  }

  /** The program and the arguments of a process; empty if there is no such process. */
  public static List<String> commandLine(long pid) {
    try {
      String line = Files.readString(PROC.resolve(pid + "/cmdline"), StandardCharsets.ISO_8859_1);
      return List.of(line.split("\0", -1));
    } catch (IOException e) {
      return List.of();
    }
  }

  /** Every IPv4 socket, and every IPv6 socket that is used for IPv4 or listens on all addresses. */
  public static List<TcpSocket> tcpSockets() {
    List<TcpSocket> sockets = new ArrayList<>();
    for (String table : List.of("net/tcp", "net/tcp6")) {
      try {
        List<String> lines = Files.readAllLines(PROC.resolve(table), StandardCharsets.ISO_8859_1);
        for (String line : lines.subList(1, lines.size())) {
          @Nullable TcpSocket socket = parseSocket(line);
          if (socket != null) {
            sockets.add(socket);
          }
        }
      } catch (IOException e) {
        // The table does not exist if the kernel has no IPv6.
      }
    }
    return sockets;
  }

  /**
   * Parses one line of {@code /proc/net/tcp} or {@code tcp6}. The result is null for IPv6 addresses
   * that contain no IPv4 address.
   */
  static @Nullable TcpSocket parseSocket(String line) {
    String[] fields = line.trim().split("\\s+", -1);
    @Nullable InetSocketAddress local = parseEndpoint(fields[1]);
    @Nullable InetSocketAddress remote = parseEndpoint(fields[2]);
    if (local == null || remote == null) {
      return null;
    }
    return new TcpSocket(
        local, remote, Integer.parseInt(fields[3], 16) == LISTEN, Long.parseLong(fields[9]));
  }

  private static @Nullable InetSocketAddress parseEndpoint(String hex) {
    int colon = hex.indexOf(':');
    String address = hex.substring(0, colon);
    if (address.length() > 8) {
      String high = address.substring(0, 24);
      boolean unspecified = address.chars().allMatch(c -> c == '0');
      if (!unspecified && !high.equals("0000000000000000FFFF0000")) {
        return null;
      }
      address = address.substring(24);
    }
    // The kernel prints the address as one word in the machine's byte order, little-endian here.
    int word = Integer.reverseBytes(Integer.parseUnsignedInt(address, 16));
    byte[] bytes = {(byte) (word >>> 24), (byte) (word >>> 16), (byte) (word >>> 8), (byte) word};
    try {
      InetAddress ip = Inet4Address.getByAddress(bytes);
      return new InetSocketAddress(ip, Integer.parseInt(hex.substring(colon + 1), 16));
    } catch (UnknownHostException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Finds the owners of sockets among some processes.
   *
   * @param inodes the inodes of the sockets
   * @param pids the processes to search
   * @return the process id by inode, without inodes that belong to no process of {@code pids}
   */
  public static Map<Long, Long> socketOwners(Set<Long> inodes, Collection<Long> pids) {
    Map<Long, Long> owners = new HashMap<>();
    for (long pid : pids) {
      if (owners.size() == inodes.size()) {
        break;
      }
      try (DirectoryStream<Path> fds = Files.newDirectoryStream(PROC.resolve(pid + "/fd"))) {
        for (Path fd : fds) {
          long inode = socketInode(fd);
          if (inode >= 0 && inodes.contains(inode)) {
            owners.put(inode, pid);
          }
        }
      } catch (IOException | java.nio.file.DirectoryIteratorException e) {
        // The process has ended, or belongs to another user.
      }
    }
    return owners;
  }

  private static long socketInode(Path fd) {
    try {
      String target = Files.readSymbolicLink(fd).toString();
      return target.startsWith("socket:[")
          ? Long.parseLong(target.substring("socket:[".length(), target.length() - 1))
          : -1;
    } catch (IOException e) {
      return -1;
    }
  }

  /** All processes that {@code /proc} shows. */
  static List<Long> pids() {
    List<Long> pids = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path entry : entries) {
        pids.add(Long.valueOf(entry.getFileName().toString()));
      }
    } catch (IOException e) {
      // Without /proc there is no information.
    }
    return pids;
  }
}
