package dev.onehop.cli.results;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a fault did to operations that were issued at a fixed rate.
 *
 * @param name the scenario's name, such as {@code shard-freeze}
 * @param fault what happened, for a person
 * @param shard where; null if it did not happen to a shard
 * @param rate operations per second that were to be issued
 * @param arrivals {@code constant} or {@code poisson}
 * @param seconds how long operations were issued
 * @param from the second in which the fault began
 * @param to the second in which it ended
 * @param lines the clients, in the order they ran
 */
public record ScenarioResult(
    String name,
    String fault,
    @Nullable String shard,
    double rate,
    String arrivals,
    int seconds,
    int from,
    int to,
    List<Line> lines) {

  /**
   * One client.
   *
   * @param mode its mode
   * @param connections the pool size per server, or how many sockets requests share
   * @param pipelining whether many requests were in flight on each socket
   * @param operations operations that were to be issued
   * @param failed operations that failed
   * @param notIssued operations that were not issued by the end, among the failed ones
   * @param unanswered operations that were not answered by the end, among the failed ones
   * @param healthy operations on the shards that nothing happened to
   * @param ill operations on the shard with the fault; null if there is none
   * @param folder where its logs are, relative to the results' folder
   */
  public record Line(
      String mode,
      int connections,
      boolean pipelining,
      long operations,
      long failed,
      long notIssued,
      long unanswered,
      Group healthy,
      @Nullable Group ill,
      String folder) {}

  /**
   * Operations on some of the shards.
   *
   * @param before those with an intended time before the fault, but for the first two seconds
   * @param during those with one during the fault
   * @param after those with one after it
   * @param recoverySeconds from the fault's end until all operations of a second, and of the
   *     following ones, take no more than twice the time of the 99th percentile before; null if
   *     that is not seen
   * @param series second by second
   */
  public record Group(
      Phase before,
      Phase during,
      Phase after,
      @Nullable Integer recoverySeconds,
      List<Second> series) {}

  /**
   * Part of the run.
   *
   * @param latency of the operations whose intended time lies in it and which were answered, from
   *     that time, in microseconds
   * @param answeredPerSecond operations that were answered in it, per second
   * @param failed operations that failed in it
   */
  public record Phase(LatencySummary latency, double answeredPerSecond, long failed) {}

  /**
   * One second of the run.
   *
   * @param answered operations that were answered in it
   * @param failed operations that failed in it
   * @param p50 median latency in microseconds of those whose intended time lies in it; null if none
   *     was answered
   * @param p99 99th percentile likewise
   */
  public record Second(long answered, long failed, @Nullable Long p50, @Nullable Long p99) {}
}
