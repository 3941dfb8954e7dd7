package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Map;

/**
 * Everything a run of {@code onehop propagate} found: the content of its {@code results.json}.
 *
 * @param command {@link #COMMAND}, which distinguishes the file from others'
 * @param envelope what every such file says
 * @param streams what a mongos' change stream waits for
 * @param measurements the finished ones in the order they ran
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

  /** What {@code command} says. */
  public static final String COMMAND = "propagate";

  /**
   * What an idle server's part of a stream waits for.
   *
   * @param awaitMillis how long a server may wait for events before it answers without any
   * @param noopSeconds how often an idle server writes a no-op, by shard, and {@code config} for
   *     the config servers; those are left out that did not tell
   * @param order {@code key} or {@code total}: the order of the path {@code ordered}
   * @param standInWaits whether stand-in routers' streams wait as those of a mongos do
   */
  public record Streams(
      long awaitMillis, Map<String, Double> noopSeconds, String order, boolean standInWaits) {
    /** No-ops that a file left out are none. */
    public Streams {
      noopSeconds = noopSeconds == null ? Map.of() : noopSeconds;
    }
  }

  /** Results of this version. */
  public PropagateResults(
      Envelope envelope, Streams streams, List<PropagateMeasurement> measurements) {
    this(COMMAND, envelope, streams, measurements);
  }

  /** Measurements that a file left out are none. */
  public PropagateResults {
    measurements = measurements == null ? List.of() : List.copyOf(measurements);
  }

  /** Objects that are lost or doubled, over all measurements. */
  @JsonIgnore
  public long faults() {
    return measurements.stream().mapToLong(PropagateMeasurement::faults).sum();
  }

  @Override
  public int finished() {
    return (int) measurements.stream().map(PropagateMeasurement::measured).distinct().count();
  }
}
