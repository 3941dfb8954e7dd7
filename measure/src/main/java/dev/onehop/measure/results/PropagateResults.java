package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Map;

/**
 * The results of a run of {@code onehop propagate}: the content of its {@code results.json}.
 *
 * @param command {@link #COMMAND}, which distinguishes the file from others
 * @param envelope the common part of all such files
 * @param streams the times that a mongos' change stream waits for
 * @param measurements the finished measurements in the order they ran
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
   * The times that a mongos' stream waits for on idle servers.
   *
   * @param awaitMillis how long a server may wait for events before it replies without any
   * @param noopSeconds the interval of an idle server's no-op writes, by shard, {@code config} for
   *     the config servers; without unknown intervals
   * @param order {@code key} or {@code total}: the order of the path {@code ordered}
   * @param standInWaits whether stand-in routers' streams wait as a mongos' streams do
   */
  public record Streams(
      long awaitMillis, Map<String, Double> noopSeconds, String order, boolean standInWaits) {}

  /** Creates results of this version. */
  public PropagateResults(
      Envelope envelope, Streams streams, List<PropagateMeasurement> measurements) {
    this(COMMAND, envelope, streams, measurements);
  }

  /** The number of objects that are lost or doubled, over all measurements. */
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
