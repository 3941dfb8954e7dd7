package dev.onehop.measure.results;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The effect of a fault on operations at a fixed rate, by second. The figures of its phases are
 * among the {@link ScenarioEntry entries}.
 *
 * @param scenario the scenario's name, such as {@code shard-freeze}
 * @param fault the description of the fault
 * @param shard the shard with the fault; null if it did not concern a shard
 * @param rate intended operations per second
 * @param arrivals {@code constant} or {@code poisson}
 * @param seconds the time in which operations were issued
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
   * @param healthy operations on the shards without a fault
   * @param affected operations on the shard with the fault; null if there is none
   * @param folder the folder of its logs, relative to the results' folder
   */
  public record Line(Client client, Group healthy, @Nullable Group affected, String folder) {}

  /**
   * Operations on some of the shards.
   *
   * @param recoverySeconds from the fault's end to the first second from which on all operations
   *     take at most twice the 99th percentile before the fault; null if there is none
   * @param series the figures by second
   */
  public record Group(@Nullable Integer recoverySeconds, List<Second> series) {}

  /**
   * One second of the run.
   *
   * @param answered operations with a reply in it
   * @param failed operations with an intended time in it that failed, were not issued, or had no
   *     reply in the end
   * @param p50 median latency in microseconds of the operations with an intended time in it; null
   *     without replies
   * @param p99 99th percentile likewise
   */
  public record Second(long answered, long failed, @Nullable Long p50, @Nullable Long p99) {}

  /** The {@link ScenarioEntry#shards} of the phases on shards without a fault. */
  public String healthyShards() {
    return shard == null ? ScenarioEntry.ALL : "healthy";
  }
}
