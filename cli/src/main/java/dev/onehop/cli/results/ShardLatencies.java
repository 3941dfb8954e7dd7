package dev.onehop.cli.results;

import dev.onehop.cli.Failure;
import dev.onehop.cli.results.ScenarioResult.Group;
import dev.onehop.cli.results.ScenarioResult.Phase;
import dev.onehop.cli.results.ScenarioResult.Second;
import java.io.FileNotFoundException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/**
 * The latencies of each second by shard, as a client with {@code onehop.latencies} writes them.
 * Histograms of seconds are merged; percentiles are never averaged.
 */
public final class ShardLatencies {
  private static final int DIGITS = 3;

  /** Connections are opened and tables read then. */
  private static final int SETTLING_SECONDS = 2;

  private record Interval(int second, String kind, String shard, Histogram histogram) {}

  private final List<Interval> intervals;
  private final int seconds;

  private ShardLatencies(List<Interval> intervals, int seconds) {
    this.intervals = intervals;
    this.seconds = seconds;
  }

  /**
   * Reads a client's file.
   *
   * @param seconds how long operations were issued
   * @throws Failure if the file is missing or damaged
   */
  public static ShardLatencies read(Path file, int seconds) {
    List<Interval> intervals = new ArrayList<>();
    try (HistogramLogReader reader = new HistogramLogReader(file.toFile())) {
      EncodableHistogram next;
      while ((next = reader.nextIntervalHistogram()) != null) {
        // Operation, kind, shard.
        String[] tag = String.valueOf(next.getTag()).split("\\.", 3);
        if (next instanceof Histogram histogram && tag.length == 3) {
          long from = next.getStartTimeStamp() - (long) (reader.getStartTimeSec() * 1000);
          intervals.add(new Interval((int) Math.round(from / 1000.0), tag[1], tag[2], histogram));
        }
      }
    } catch (FileNotFoundException e) {
      throw Failure.run("cannot read " + file, e);
    } catch (RuntimeException e) {
      throw Failure.run(file + " is damaged: " + Failure.firstLine(e), e);
    }
    return new ShardLatencies(intervals, seconds);
  }

  /**
   * Operations on some of the shards.
   *
   * @param shards which
   * @param from the second in which the fault begins
   * @param to the second in which it ends
   */
  public Group of(Predicate<String> shards, int from, int to) {
    Phase before = phase(shards, SETTLING_SECONDS, from);
    List<Second> series = new ArrayList<>();
    Integer recovered = null;
    for (int second = 0; second < seconds; second++) {
      Histogram intended = merged("intended", shards, second, second + 1);
      boolean answered = intended.getTotalCount() > 0;
      long failed = merged("failed", shards, second, second + 1).getTotalCount();
      series.add(
          new Second(
              merged("answered", shards, second, second + 1).getTotalCount(),
              failed,
              answered ? intended.getValueAtPercentile(50) : null,
              answered ? intended.getValueAtPercentile(99) : null));
      if (second >= to) {
        boolean well = answered && intended.getMaxValue() <= 2 * before.latency().p99();
        recovered =
            !well || failed > 0 ? null : recovered == null ? (Integer) (second - to) : recovered;
      }
    }
    return new Group(
        before, phase(shards, from, to), phase(shards, to, seconds), recovered, series);
  }

  private Phase phase(Predicate<String> shards, int from, int to) {
    return new Phase(
        LatencySummary.of(merged("intended", shards, from, to)),
        merged("answered", shards, from, to).getTotalCount() / (double) (to - from),
        merged("failed", shards, from, to).getTotalCount());
  }

  private Histogram merged(String kind, Predicate<String> shards, int from, int to) {
    Histogram merged = new Histogram(DIGITS);
    for (Interval interval : intervals) {
      if (interval.second() >= from
          && interval.second() < to
          && interval.kind().equals(kind)
          && shards.test(interval.shard())) {
        merged.add(interval.histogram());
      }
    }
    return merged;
  }
}
