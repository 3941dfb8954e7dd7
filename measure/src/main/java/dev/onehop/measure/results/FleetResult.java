package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.stream.Stream;

/**
 * Many instances of an application at a fixed rate, with their resource use at the servers.
 *
 * @param clients the number of instances, each a client with separate pools
 * @param processes the number of processes
 * @param rate the operations per second of all instances together
 * @param burst the number of operations that an instance issues at once; the instances take turns
 * @param seconds the time in which operations were issued
 * @param lines the client configurations, in the order of their measurement
 */
public record FleetResult(
    int clients, int processes, double rate, int burst, int seconds, List<Line> lines) {

  /**
   * One client configuration.
   *
   * @param client the client of each instance; in the file, its fields are at the same level as the
   *     other fields
   * @param intended the number of operations to issue
   * @param completed the number of operations with a reply
   * @param errors the number of operations that failed, were not issued, or had no reply in the end
   * @param perSecond the operations with a reply per second, until the last reply or the end of the
   *     wait
   * @param latency the latency of all operations, from the intended time to the reply, in
   *     microseconds
   * @param servers the clients' resource use at each server
   * @param folder the folder of the line's logs, relative to the results' folder
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

    /**
     * The largest number of sockets at one time of all routers together, or of all other servers
     * together.
     */
    public int peakSockets(boolean routers) {
      return servers(routers).mapToInt(server -> server.peak().sockets()).sum();
    }

    /** The largest number of sockets of one router, or of one other server. */
    public int peakSocketsOfOne(boolean routers) {
      return servers(routers).mapToInt(server -> server.peak().sockets()).max().orElse(0);
    }

    private Stream<Server> servers(boolean routers) {
      return servers.stream().filter(server -> server.router() == routers);
    }

    /**
     * The growth in bytes of the memory of all routers, or of all other servers, from rest to peak.
     */
    public long grownBytes(boolean routers) {
      return servers(routers)
          .mapToLong(
              server -> Math.max(0, server.peak().memoryBytes() - server.rest().memoryBytes()))
          .sum();
    }
  }

  /**
   * The resource use of a server.
   *
   * @param server the address of the server, as {@code host:port}
   * @param host the name of the server's host
   * @param router whether it is a router; false for a config server or a shard's member
   * @param rest the use before the clients were started
   * @param load the median use while operations were issued
   * @param peak the largest use at any time, separately for sockets and memory
   */
  public record Server(
      String server, String host, boolean router, Usage rest, Usage load, Usage peak) {}

  /**
   * The resource use at a moment.
   *
   * @param sockets the number of established connections to the server, from all clients and
   *     servers
   * @param memoryBytes the memory of the server's process in use (RSS)
   */
  public record Usage(int sockets, long memoryBytes) {}
}
