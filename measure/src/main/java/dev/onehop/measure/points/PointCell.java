package dev.onehop.measure.points;

import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.results.Client;

/**
 * One measurement: a client at a load. Immutable.
 *
 * @param mode how the cluster is reached
 * @param threads threads of a closed loop; at a rate, how many operations of a synchronous driver
 *     may be under way
 * @param connections pool size per server; with pipelining, sockets that requests share
 * @param pipelining whether many requests are in flight on each socket
 * @param load what the client does
 * @param round which of the cell's measurements this is, from 1; 0 for the only one
 */
record PointCell(Mode mode, int threads, int connections, boolean pipelining, Load load, int round)
    implements Bench.Cell {

  PointCell(Mode mode, int threads, int connections, boolean pipelining, Load load) {
    this(mode, threads, connections, pipelining, load, 0);
  }

  PointCell inRound(int number) {
    return new PointCell(mode, threads, connections, pipelining, load, number);
  }

  /** The client that is measured. */
  Client client() {
    return new Client(mode.label(), connections, pipelining);
  }

  /** Where its logs are, relative to the results' folder. */
  String folder() {
    return load.folder(this) + (round == 0 ? "" : "-round" + round);
  }

  /** For a person: {@code legacy, 64 threads, 5 connections}. */
  @Override
  public String title() {
    return load.title(this) + (round == 0 ? "" : ", round " + round);
  }

  /**
   * The usual folder.
   *
   * @param load the load in short, such as {@code t64}
   */
  String folder(String load) {
    return "points/%s-%s-c%d%s".formatted(mode, load, connections, pipelining ? "-pipelined" : "");
  }

  /**
   * The usual title.
   *
   * @param load the load in short, such as {@code 64 threads}
   */
  String title(String load) {
    return "%s, %s, %d connection%s%s"
        .formatted(
            mode, load, connections, connections == 1 ? "" : "s", pipelining ? ", pipelined" : "");
  }

  /** The threads, such as {@code 64 threads}. */
  String threadsText() {
    return threads + (threads == 1 ? " thread" : " threads");
  }
}
