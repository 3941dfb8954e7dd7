package dev.onehop.cli.bench;

/**
 * A point that is to be measured.
 *
 * @param mode how the cluster is reached
 * @param threads YCSB client threads
 * @param connections pool size per server
 */
record PointPlan(Mode mode, int threads, int connections) {

  /** The point's folder under the results folder. */
  String folder() {
    return "points/" + mode + "-t" + threads + "-c" + connections;
  }

  /** For a person: {@code legacy, 64 threads, 5 connections}. */
  String title() {
    return mode
        + ", "
        + threads
        + (threads == 1 ? " thread, " : " threads, ")
        + connections
        + (connections == 1 ? " connection" : " connections");
  }
}
