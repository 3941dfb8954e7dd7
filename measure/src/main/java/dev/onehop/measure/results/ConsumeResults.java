package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;

/**
 * The results of a run of {@code onehop consume}: the content of its {@code results.json}.
 *
 * @param command {@link #COMMAND}, which distinguishes the file from files of other commands
 * @param envelope the common part of all such files
 * @param points the finished points in the order of their measurement
 */
public record ConsumeResults(
    String command, @JsonUnwrapped Envelope envelope, List<ConsumePoint> points)
    implements RunResults {

  /** The value of {@code command}. */
  public static final String COMMAND = "consume";

  /** Creates results with the present format. */
  public ConsumeResults(Envelope envelope, List<ConsumePoint> points) {
    this(COMMAND, envelope, points);
  }

  /** Returns the points of a kind. */
  public List<ConsumePoint> points(String kind) {
    return points.stream().filter(point -> point.kind().equals(kind)).toList();
  }

  /** The number of lost, doubled, out-of-order and unexpected rows, over all points. */
  public long faults() {
    return points.stream().mapToLong(ConsumePoint::faults).sum();
  }

  @Override
  public String fault() {
    return faults() == 0
        ? ""
        : faults()
            + " rows were lost, doubled, out of order, or received without an acknowledged write";
  }

  @Override
  public int finished() {
    return points.size();
  }
}
