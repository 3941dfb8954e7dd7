package dev.onehop.measure.points;

import dev.onehop.measure.results.Client;
import dev.onehop.measure.results.Conditions;
import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.ShardLatencies;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A point that is to be measured, or one round of it.
 *
 * @param mode how the cluster is reached
 * @param threads YCSB client threads; at a rate, how many operations of a sync driver may be under
 *     way
 * @param connections pool size per server; with pipelining, sockets that requests share
 * @param pipelining whether many requests are in flight on each socket
 * @param rate operations per second that are issued at intended times; null for a closed loop
 * @param round which of its measurements this is, from 1; 0 for the point itself
 */
record PointPlan(
    Mode mode, int threads, int connections, boolean pipelining, @Nullable Double rate, int round) {

  PointPlan(Mode mode, int threads, int connections, boolean pipelining) {
    this(mode, threads, connections, pipelining, null, 0);
  }

  PointPlan inRound(int number) {
    return new PointPlan(mode, threads, connections, pipelining, rate, number);
  }

  PointPlan atRate(double perSecond) {
    return new PointPlan(mode, threads, connections, pipelining, perSecond, round);
  }

  /** The client that is measured. */
  Client client() {
    return new Client(mode.label(), connections, pipelining);
  }

  /** The point's folder under the results folder. */
  String folder() {
    return "points/"
        + mode
        + (rate == null ? "-t" + threads : "-r" + number(rate))
        + "-c"
        + connections
        + (pipelining ? "-pipelined" : "")
        + (round == 0 ? "" : "-round" + round);
  }

  /** For a person: {@code legacy, 64 threads, 5 connections}. */
  String title() {
    return mode
        + ", "
        + (rate == null
            ? threads + (threads == 1 ? " thread, " : " threads, ")
            : number(rate) + "/s, ")
        + connections
        + (connections == 1 ? " connection" : " connections")
        + (pipelining ? ", pipelined" : "")
        + (round == 0 ? "" : ", round " + round);
  }

  private static String number(double rate) {
    return rate == Math.rint(rate)
        ? String.valueOf((long) rate)
        : String.format(Locale.ROOT, "%.1f", rate);
  }

  /**
   * What was measured of it at a fixed rate.
   *
   * @param poisson whether intended times were those of many independent users
   * @param seconds how long the phase was
   */
  ScenarioEntry entry(
      String scenario,
      double perSecond,
      boolean poisson,
      String phase,
      String shards,
      ShardLatencies.Phase figures,
      double seconds,
      @Nullable CpuPerOperation cpu,
      @Nullable Conditions conditions) {
    return new ScenarioEntry(
        scenario,
        mode.label(),
        connections,
        pipelining,
        perSecond,
        poisson ? "poisson" : "constant",
        phase,
        shards,
        figures.intended(),
        figures.completed(),
        figures.errors(),
        figures.notIssued(),
        figures.unanswered(),
        figures.perSecond(),
        figures.latency(),
        figures.service(),
        null,
        seconds,
        List.of(),
        cpu,
        conditions,
        folder());
  }
}
