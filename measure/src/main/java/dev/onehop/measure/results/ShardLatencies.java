package dev.onehop.measure.results;

import dev.onehop.measure.results.HdrLogs.Interval;
import dev.onehop.measure.results.Timeline.Group;
import dev.onehop.measure.results.Timeline.Second;
import dev.onehop.resync.Failure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * The latencies of each second by shard, as a client with {@code onehop.latencies} writes them. For
 * a longer time, the histograms of its seconds are merged, because percentiles cannot be averaged.
 */
public final class ShardLatencies {
  /**
   * The number of seconds at the start of a run in which clients open connections and read routing
   * tables. These seconds do not count as the time before a fault.
   */
  public static final int SETTLING_SECONDS = 2;

  private final List<Interval> intervals;
  private final int seconds;

  private ShardLatencies(List<Interval> intervals, int seconds) {
    this.intervals = intervals;
    this.seconds = seconds;
  }

  /**
   * Reads a client's file.
   *
   * @param seconds the time in which operations were issued
   * @throws Failure if the file is missing or damaged
   */
  public static ShardLatencies read(Path file, int seconds) {
    return new ShardLatencies(HdrLogs.intervals(file), seconds);
  }

  /**
   * The operations of a phase on some of the shards. An operation belongs to the phase of its
   * intended time.
   *
   * @param intended the number of intended operations: {@code completed} and {@code errors}
   *     together
   * @param completed the number of operations with a reply, including replies after the phase
   * @param errors the number of operations that failed, were never issued, or never had a reply
   * @param notIssued the number of operations that were never issued
   * @param unanswered the number of operations that were issued and never had a reply
   * @param perSecond the operations with a reply within the phase, per second
   * @param latency the latency from the intended time, in microseconds. An operation that was never
   *     issued or never had a reply counts with the time that it has waited. The figures are then
   *     lower bounds
   * @param service the time from the issue to the reply, in microseconds
   */
  public record Phase(
      long intended,
      long completed,
      long errors,
      long notIssued,
      long unanswered,
      double perSecond,
      LatencySummary latency,
      LatencySummary service) {

    /**
     * Returns this phase with another value for {@code perSecond}: the rate in a part of the phase.
     */
    public Phase withPerSecond(double rate) {
      return new Phase(intended, completed, errors, notIssued, unanswered, rate, latency, service);
    }

    /** Returns this phase with the sums of the errors of several rounds. */
    Phase withErrors(List<Phase> all) {
      return new Phase(
          intended,
          completed,
          all.stream().mapToLong(Phase::errors).sum(),
          all.stream().mapToLong(Phase::notIssued).sum(),
          all.stream().mapToLong(Phase::unanswered).sum(),
          perSecond,
          latency,
          service);
    }

    /** The number of operations that failed with an error. */
    public long failed() {
      return errors - notIssued - unanswered;
    }
  }

  /**
   * Returns a phase, from the start of the second {@code from} to the start of the second {@code
   * to}.
   *
   * @param shards selects the shards; it is also called with an empty name, for latencies without a
   *     shard
   */
  public Phase phase(Predicate<String> shards, int from, int to) {
    Histogram answered = merged("intended", shards, from, to);
    Histogram notIssued = merged("notissued", shards, from, to);
    Histogram unanswered = merged("unanswered", shards, from, to);
    Histogram latency = answered.copy();
    latency.add(notIssued);
    latency.add(unanswered);
    long completed = answered.getTotalCount();
    long errors =
        merged("failed", shards, from, to).getTotalCount()
            + notIssued.getTotalCount()
            + unanswered.getTotalCount();
    return new Phase(
        completed + errors,
        completed,
        errors,
        notIssued.getTotalCount(),
        unanswered.getTotalCount(),
        merged("answered", shards, from, to).getTotalCount() / (double) (to - from),
        LatencySummary.of(latency),
        LatencySummary.of(merged("service", shards, from, to)));
  }

  /**
   * Returns the operations on some of the shards, by second.
   *
   * @param shards selects the shards
   * @param from the second in which the fault starts
   * @param to the second in which the fault ends
   */
  public Group of(Predicate<String> shards, int from, int to) {
    long usual = phase(shards, SETTLING_SECONDS, from).latency().p99();
    List<Second> series = new ArrayList<>();
    Integer recovered = null;
    for (int second = 0; second < seconds; second++) {
      Histogram intended = merged("intended", shards, second, second + 1);
      boolean answered = intended.getTotalCount() > 0;
      long failed = missed(shards, second);
      series.add(
          new Second(
              merged("answered", shards, second, second + 1).getTotalCount(),
              failed,
              answered ? intended.getValueAtPercentile(50) : null,
              answered ? intended.getValueAtPercentile(99) : null));
      if (second >= to) {
        boolean well = answered && intended.getMaxValue() <= 2 * usual;
        recovered =
            !well || failed > 0 ? null : recovered == null ? (Integer) (second - to) : recovered;
      }
    }
    return new Group(recovered, series);
  }

  private long missed(Predicate<String> shards, int second) {
    return Stream.of("failed", "unanswered", "notissued")
        .mapToLong(kind -> merged(kind, shards, second, second + 1).getTotalCount())
        .sum();
  }

  private Histogram merged(String kind, Predicate<String> shards, int from, int to) {
    return HdrLogs.sum(
        intervals.stream()
            .filter(each -> each.second() >= from && each.second() < to)
            .filter(each -> each.kind().equals(kind) && shards.test(each.shard()))
            .map(Interval::histogram));
  }
}
