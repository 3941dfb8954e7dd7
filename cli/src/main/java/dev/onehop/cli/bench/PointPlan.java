package dev.onehop.cli.bench;

/**
 * A point that is to be measured, or one round of it.
 *
 * @param mode how the cluster is reached
 * @param threads YCSB client threads
 * @param connections pool size per server; with pipelining, sockets that requests share
 * @param pipelining whether many requests are in flight on each socket
 * @param round which of its measurements this is, from 1; 0 for the point itself
 */
record PointPlan(Mode mode, int threads, int connections, boolean pipelining, int round) {

  PointPlan(Mode mode, int threads, int connections, boolean pipelining) {
    this(mode, threads, connections, pipelining, 0);
  }

  PointPlan inRound(int number) {
    return new PointPlan(mode, threads, connections, pipelining, number);
  }

  /** The point's folder under the results folder. */
  String folder() {
    return "points/"
        + mode
        + "-t"
        + threads
        + "-c"
        + connections
        + (pipelining ? "-pipelined" : "")
        + (round == 0 ? "" : "-round" + round);
  }

  /** For a person: {@code legacy, 64 threads, 5 connections}. */
  String title() {
    return mode
        + ", "
        + threads
        + (threads == 1 ? " thread, " : " threads, ")
        + connections
        + (connections == 1 ? " connection" : " connections")
        + (pipelining ? ", pipelined" : "")
        + (round == 0 ? "" : ", round " + round);
  }
}
