package dev.onehop.measure.results;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The effect of a fault on operations at a fixed rate, by second. The figures before, during and
 * after the fault are in {@link ScenarioEntry}.
 *
 * @param scenario the scenario's name, such as {@code shard-freeze}
 * @param fault the description of the fault
 * @param shard the shard with the fault; null if the fault did not concern a shard
 * @param rate the intended operations per second
 * @param arrivals {@code constant} or {@code poisson}
 * @param seconds the time in which operations were issued
 * @param from the second in which the fault began
 * @param to the second in which the fault ended
 * @param lines the clients, in the order of their measurement
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
   * @param healthy the operations on the shards without a fault
   * @param affected the operations on the shard with the fault; null if no shard has a fault
   * @param folder the folder of the client's logs, relative to the results' folder
   */
  public record Line(Client client, Group healthy, @Nullable Group affected, String folder) {}

  /**
   * Operations on some of the shards.
   *
   * @param recoverySeconds the seconds from the end of the fault until all operations are fast
   *     again and stay fast. Fast means: no error, and at most twice the 99th percentile before the
   *     fault. Null if this does not happen
   * @param series the figures by second
   */
  public record Group(@Nullable Integer recoverySeconds, List<Second> series) {}

  /**
   * One second of the run.
   *
   * @param answered the number of operations with a reply in this second
   * @param failed the number of operations with an intended time in this second that failed, were
   *     never issued, or never had a reply
   * @param p50 the median latency in microseconds of the operations with an intended time in this
   *     second; null without replies
   * @param p99 the 99th percentile of these latencies, in microseconds; null without replies
   */
  public record Second(long answered, long failed, @Nullable Long p50, @Nullable Long p99) {}

  /** Returns the {@link ScenarioEntry#shards} of the entries for shards without a fault. */
  public String healthyShards() {
    return shard == null ? ScenarioEntry.ALL : "healthy";
  }
}
