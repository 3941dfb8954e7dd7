package dev.onehop.measure.points;

import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.report.Format;
import dev.onehop.measure.results.Client;

/**
 * One measurement: a client with a load. Immutable.
 *
 * @param mode the client configuration
 * @param threads the number of threads of a closed loop; at a rate, the largest number of
 *     operations in flight of a synchronous driver
 * @param connections the pool size per server; with pipelining, the number of shared sockets per
 *     server
 * @param pipelining whether many requests are in flight on each socket
 * @param load the operations of the client
 * @param round the number of the cell's measurement, from 1; 0 if the cell is measured once
 */
record PointCell(Mode mode, int threads, int connections, boolean pipelining, Load load, int round)
    implements Bench.Cell {

  PointCell(Mode mode, int threads, int connections, boolean pipelining, Load load) {
    this(mode, threads, connections, pipelining, load, 0);
  }

  PointCell inRound(int number) {
    return new PointCell(mode, threads, connections, pipelining, load, number);
  }

  /** The measured client. */
  Client client() {
    return new Client(mode.label(), connections, pipelining);
  }

  /** The folder of the cell's logs, relative to the results' folder. */
  String folder() {
    return load.folder(this) + (round == 0 ? "" : "-round" + round);
  }

  /** The title, such as {@code legacy, 64 threads, 5 connections}. */
  @Override
  public String title() {
    return load.title(this) + (round == 0 ? "" : ", round " + round);
  }

  /**
   * Returns the folder in its usual format.
   *
   * @param load the short name of the load, such as {@code t64}
   */
  String folder(String load) {
    return "points/%s-%s-c%d%s".formatted(mode, load, connections, pipelining ? "-pipelined" : "");
  }

  /**
   * Returns the title in its usual format.
   *
   * @param load the short name of the load, such as {@code 64 threads}
   */
  String title(String load) {
    return "%s, %s, %s%s"
        .formatted(
            mode, load, Format.counted(connections, "connection"), pipelining ? ", pipelined" : "");
  }
}
