package dev.onehop.measure.results;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a fault did to operations that were issued at a fixed rate, second by second. The figures of
 * its phases are among the {@link ScenarioEntry entries}.
 *
 * @param scenario the scenario's name, such as {@code shard-freeze}
 * @param fault what happened, for a person
 * @param shard where; null if it did not happen to a shard
 * @param rate operations per second that were to be issued
 * @param arrivals {@code constant} or {@code poisson}
 * @param seconds how long operations were issued
 * @param from the second in which the fault began
 * @param to the second in which it ended
 * @param lines the clients, in the order they ran
 */
public record Timeline(
    String scenario,
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
   * @param client the client
   * @param healthy operations on the shards that nothing happened to
   * @param affected operations on the shard with the fault; null if there is none
   * @param folder where its logs are, relative to the results' folder
   */
  public record Line(Client client, Group healthy, @Nullable Group affected, String folder) {}

  /**
   * Operations on some of the shards.
   *
   * @param recoverySeconds from the fault's end until all operations of a second, and of the
   *     following ones, take no more than twice the time of the 99th percentile before; null if
   *     that is not seen
   * @param series second by second
   */
  public record Group(@Nullable Integer recoverySeconds, List<Second> series) {}

  /**
   * One second of the run.
   *
   * @param answered operations that were answered in it
   * @param failed operations with an intended time in it that failed, or were not issued or not
   *     answered by the end
   * @param p50 median latency in microseconds of those whose intended time lies in it; null if none
   *     was answered
   * @param p99 99th percentile likewise
   */
  public record Second(long answered, long failed, @Nullable Long p50, @Nullable Long p99) {}

  /** The name of its phases' {@link ScenarioEntry#shards}, where nothing happened. */
  public String healthyShards() {
    return shard == null ? ScenarioEntry.ALL : "healthy";
  }
}
