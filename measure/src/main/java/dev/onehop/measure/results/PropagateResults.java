package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Map;

/**
 * The results of a run of {@code onehop propagate}: the content of its {@code results.json}.
 *
 * @param command {@link #COMMAND}, which distinguishes the file from files of other commands
 * @param envelope the common part of all such files
 * @param streams the intervals for which a mongos' change stream waits
 * @param measurements the finished measurements in the order in which they ran
 */
public record PropagateResults(
    String command,
    @JsonUnwrapped Envelope envelope,
    Streams streams,
    List<PropagateMeasurement> measurements)
    implements RunResults {

  @Override
  public boolean whole() {
    return RunResults.super.whole() && streams() != null;
  }

  /** The value of {@code command}. */
  public static final String COMMAND = "propagate";

  /**
   * The intervals for which a mongos' stream waits on idle servers.
   *
   * @param awaitMillis the time for which a server may wait for events before it replies without
   *     events
   * @param noopSeconds the interval in seconds of an idle server's no-op writes, by shard, and
   *     {@code config} for the config servers; an unknown interval is missing
   * @param order {@code key} or {@code total}: the order of the path {@code ordered}
   * @param standInWaits whether streams of stand-in routers wait like a mongos' streams
   */
  public record Streams(
      long awaitMillis, Map<String, Double> noopSeconds, String order, boolean standInWaits) {}

  /** Creates results with the present format. */
  public PropagateResults(
      Envelope envelope, Streams streams, List<PropagateMeasurement> measurements) {
    this(COMMAND, envelope, streams, measurements);
  }

  /** The number of objects of all measurements that are lost or doubled. */
  public long faults() {
    return measurements.stream().mapToLong(PropagateMeasurement::faults).sum();
  }

  @Override
  public String fault() {
    return faults() == 0 ? "" : faults() + " objects were lost or doubled";
  }

  @Override
  public int finished() {
    return (int) measurements.stream().map(PropagateMeasurement::measured).distinct().count();
  }
}
