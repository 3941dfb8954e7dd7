package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The results of a run of {@code onehop resync bench}: the content of its {@code results.json}.
 *
 * @param command {@link #COMMAND}, which distinguishes the file from files of other commands
 * @param envelope the common part of all such files
 * @param cells the finished cells in the order of their measurement
 */
public record ResyncResults(
    String command, @JsonUnwrapped Envelope envelope, List<ResyncCell> cells)
    implements RunResults {

  /** The value of {@code command}. */
  public static final String COMMAND = "resync";

  /**
   * Creates results. Where cells with the same method and kind of data have several sizes, a
   * straight line is fitted to their times. Each of these cells gets the figures of the line.
   */
  public static ResyncResults of(Envelope envelope, List<ResyncCell> cells) {
    return new ResyncResults(
        COMMAND, envelope, cells.stream().map(cell -> cell.withLine(line(cells, cell))).toList());
  }

  private static @Nullable StraightLine line(List<ResyncCell> cells, ResyncCell of) {
    List<StraightLine.At> points = new ArrayList<>();
    for (ResyncCell cell : cells) {
      if (cell.method().equals(of.method()) && cell.isLike(of.indexes(), of.collections())) {
        cell.seconds().forEach(seconds -> points.add(new StraightLine.At(cell.bytes(), seconds)));
      }
    }
    return StraightLine.through(points).orElse(null);
  }

  /** Returns the cells of a method on one kind of data, the smallest first. */
  public List<ResyncCell> cells(String method, int indexes, int collections) {
    return cells.stream()
        .filter(cell -> cell.method().equals(method) && cell.isLike(indexes, collections))
        .sorted((a, b) -> Long.compare(a.bytes(), b.bytes()))
        .toList();
  }

  /**
   * Data of one kind.
   *
   * @param indexes the number of secondary indexes of each collection
   * @param collections the number of collections
   */
  public record Kind(int indexes, int collections) {}

  /** The kinds of data, ordered by the number of collections, then of indexes. */
  public List<Kind> kinds() {
    return cells.stream()
        .map(cell -> new Kind(cell.indexes(), cell.collections()))
        .distinct()
        .sorted(
            (a, b) ->
                a.collections() == b.collections()
                    ? Integer.compare(a.indexes(), b.indexes())
                    : Integer.compare(a.collections(), b.collections()))
        .toList();
  }

  /**
   * Returns the size in bytes of documents at which the two methods take the same time: the
   * intersection of their lines. Null if there are no lines, or they do not intersect.
   */
  public @Nullable Double crossover(Kind kind) {
    List<ResyncCell> logical = cells(ResyncCell.LOGICAL, kind.indexes(), kind.collections());
    List<ResyncCell> files = cells(ResyncCell.FILES, kind.indexes(), kind.collections());
    if (logical.isEmpty()
        || files.isEmpty()
        || logical.get(0).fixedSeconds() == null
        || files.get(0).fixedSeconds() == null) {
      return null;
    }
    double fixed =
        Objects.requireNonNull(files.get(0).fixedSeconds())
            - Objects.requireNonNull(logical.get(0).fixedSeconds());
    double slope =
        Objects.requireNonNull(logical.get(0).secondsPerGibibyte())
            - Objects.requireNonNull(files.get(0).secondsPerGibibyte());
    double at = fixed / slope * (1L << 30);
    return Double.isFinite(at) && at > 0 ? at : null;
  }

  /** The number of cells whose method is not proved, whose members differ, or that lost writes. */
  public long faults() {
    return cells.stream()
        .filter(cell -> !cell.methodProved() || !cell.equal() || cell.lost() != 0)
        .count();
  }

  @Override
  public String fault() {
    return faults() == 0
        ? ""
        : faults()
            + " measurements have a fault: the method is not proved, members differ, or writes are"
            + " lost";
  }

  @Override
  public int finished() {
    return cells.size();
  }
}
