package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Map;

/**
 * The results of a run of {@code onehop propagate}: the content of its {@code results.json}.
 *
 * @param command {@link #COMMAND}, which distinguishes the file from files of other commands
 * @param envelope the common part of all such files
 * @param streams the settings that decide how long a change stream waits for idle servers
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
   * The settings that decide how long a change stream waits for idle servers.
   *
   * @param awaitMillis the time for which a server may wait for events before it replies without
   *     events
   * @param noopSeconds by shard, the interval in seconds at which an idle server writes a no-op.
   *     The key {@code config} is for the config servers. Unknown intervals are left out
   * @param order {@code key} or {@code total}: whether the path {@code ordered} orders the events
   *     of each document or all events
   * @param standInWaits whether change streams of stand-in routers wait, as those of a mongos do,
   *     until each shard reports a later time
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
