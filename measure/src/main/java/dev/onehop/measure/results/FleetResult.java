package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;

/**
 * Many instances of an application at a fixed rate: what they occupy at the servers.
 *
 * @param clients how many instances, each a client with pools of its own
 * @param processes in how many processes
 * @param rate operations per second of all together
 * @param burst how many operations an instance issues at once, one instance after the other
 * @param seconds how long operations were issued
 * @param lines the ways to reach the cluster, in the order they ran
 */
public record FleetResult(
    int clients, int processes, double rate, int burst, int seconds, List<Line> lines) {

  /** Lines that a file left out are none. */
  public FleetResult {
    lines = lines == null ? List.of() : List.copyOf(lines);
  }

  /**
   * One way to reach the cluster.
   *
   * @param client the client of each instance; its parts stand beside the others in the file
   * @param intended operations that were to be issued
   * @param completed those that were answered
   * @param errors those that failed, were not issued or not answered by the end
   * @param perSecond answered operations per second, until the last one was answered or given up
   * @param latency from the intended time to the answer, in microseconds, of all operations
   * @param servers what they occupied at each server
   * @param folder where its logs are, relative to the results' folder
   */
  public record Line(
      @JsonUnwrapped Client client,
      long intended,
      long completed,
      long errors,
      double perSecond,
      LatencySummary latency,
      List<Server> servers,
      String folder) {

    /** Servers that a file left out are none. */
    public Line {
      servers = servers == null ? List.of() : List.copyOf(servers);
    }

    /** The most sockets that all routers together had at one time, or all others. */
    public int peakSockets(boolean routers) {
      return servers.stream()
          .filter(server -> server.router() == routers)
          .mapToInt(server -> server.peak().sockets())
          .sum();
    }

    /** The most sockets that one router had, or one of the others. */
    public int peakSocketsOfOne(boolean routers) {
      return servers.stream()
          .filter(server -> server.router() == routers)
          .mapToInt(server -> server.peak().sockets())
          .max()
          .orElse(0);
    }

    /** By how much the memory of all routers, or of all others, grew from rest to its peak. */
    public long grownBytes(boolean routers) {
      return servers.stream()
          .filter(server -> server.router() == routers)
          .mapToLong(
              server -> Math.max(0, server.peak().memoryBytes() - server.rest().memoryBytes()))
          .sum();
    }
  }

  /**
   * What a server had.
   *
   * @param server its address, as {@code host:port}
   * @param host the name of its host
   * @param router whether it is a router, and not a config server or a shard's member
   * @param rest before the clients were started
   * @param load the median while operations were issued
   * @param peak the most at any time, sockets and memory each on their own
   */
  public record Server(
      String server, String host, boolean router, Usage rest, Usage load, Usage peak) {}

  /**
   * What is occupied.
   *
   * @param sockets established connections to the server, of all clients and servers
   * @param memoryBytes memory of its process that is in use (RSS)
   */
  public record Usage(int sockets, long memoryBytes) {}
}
