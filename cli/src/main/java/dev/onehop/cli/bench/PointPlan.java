package dev.onehop.cli.bench;

/**
 * A point that is to be measured.
 *
 * @param mode how the cluster is reached
 * @param threads YCSB client threads
 * @param connections pool size per server; with pipelining, sockets that requests share
 * @param pipelining whether many requests are in flight on each socket
 */
record PointPlan(Mode mode, int threads, int connections, boolean pipelining) {

  /** The point's folder under the results folder. */
  String folder() {
    return "points/"
        + mode
        + "-t"
        + threads
        + "-c"
        + connections
        + (pipelining ? "-pipelined" : "");
  }

  /** For a person: {@code legacy, 64 threads, 5 connections}. */
  String title() {
    return mode
        + ", "
        + threads
        + (threads == 1 ? " thread, " : " threads, ")
        + connections
        + (connections == 1 ? " connection" : " connections")
        + (pipelining ? ", pipelined" : "");
  }
}
