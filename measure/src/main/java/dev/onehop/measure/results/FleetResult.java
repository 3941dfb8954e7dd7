package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;

/**
 * Many instances of an application at a fixed rate, with their resource use at the servers.
 *
 * @param clients the number of instances, each a client with separate pools
 * @param processes the number of processes
 * @param rate operations per second of all together
 * @param burst the number of operations that an instance issues at once, one instance after the
 *     other
 * @param seconds the time in which operations were issued
 * @param lines the client configurations, in the order they ran
 */
public record FleetResult(
    int clients, int processes, double rate, int burst, int seconds, List<Line> lines) {

  /**
   * One client configuration.
   *
   * @param client the client of each instance; its fields are at the level of the others in the
   *     file
   * @param intended the number of operations to issue
   * @param completed the operations with a reply
   * @param errors operations that failed, were not issued, or had no reply in the end
   * @param perSecond operations with a reply per second, until the last reply or the end of the
   *     wait
   * @param latency from the intended time to the reply, in microseconds, of all operations
   * @param servers their resource use at each server
   * @param folder the folder of its logs, relative to the results' folder
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

    /** The most sockets at one time of all routers together, or of all other servers. */
    public int peakSockets(boolean routers) {
      return servers.stream()
          .filter(server -> server.router() == routers)
          .mapToInt(server -> server.peak().sockets())
          .sum();
    }

    /** The most sockets of one router, or of one other server. */
    public int peakSocketsOfOne(boolean routers) {
      return servers.stream()
          .filter(server -> server.router() == routers)
          .mapToInt(server -> server.peak().sockets())
          .max()
          .orElse(0);
    }

    /** The growth of the memory of all routers, or of all other servers, from rest to peak. */
    public long grownBytes(boolean routers) {
      return servers.stream()
          .filter(server -> server.router() == routers)
          .mapToLong(
              server -> Math.max(0, server.peak().memoryBytes() - server.rest().memoryBytes()))
          .sum();
    }
  }

  /**
   * The resource use of a server.
   *
   * @param server its address, as {@code host:port}
   * @param host the name of its host
   * @param router whether it is a router, and not a config server or a shard's member
   * @param rest before the clients were started
   * @param load the median while operations were issued
   * @param peak the most at any time, separately for sockets and memory
   */
  public record Server(
      String server, String host, boolean router, Usage rest, Usage load, Usage peak) {}

  /**
   * The resource use at a moment.
   *
   * @param sockets established connections to the server, of all clients and servers
   * @param memoryBytes memory of its process that is in use (RSS)
   */
  public record Usage(int sockets, long memoryBytes) {}
}
