package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;

/**
 * The results of a run of {@code onehop consume}: the content of its {@code results.json}.
 *
 * @param command {@link #COMMAND}, which distinguishes the file from a bench's
 * @param envelope the common part of all such files
 * @param points the finished points in the order they ran
 */
public record ConsumeResults(
    String command, @JsonUnwrapped Envelope envelope, List<ConsumePoint> points)
    implements RunResults {

  /** The value of {@code command}. */
  public static final String COMMAND = "consume";

  /** Creates results of this version. */
  public ConsumeResults(Envelope envelope, List<ConsumePoint> points) {
    this(COMMAND, envelope, points);
  }

  /** The points of a kind. */
  public List<ConsumePoint> points(String kind) {
    return points.stream().filter(point -> point.kind().equals(kind)).toList();
  }

  /** Rows that are lost, doubled, out of order or unexpected, over all points. */
  public long faults() {
    return points.stream().mapToLong(ConsumePoint::faults).sum();
  }

  @Override
  public String fault() {
    return faults() == 0
        ? ""
        : faults() + " rows were lost, doubled, out of order or never written";
  }

  @Override
  public int finished() {
    return points.size();
  }
}
