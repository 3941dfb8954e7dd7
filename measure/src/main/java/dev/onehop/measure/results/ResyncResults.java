package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.ArrayList;
import java.util.Comparator;
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
      if (cell.method().equals(of.method()) && cell.kind().equals(of.kind())) {
        cell.seconds().forEach(seconds -> points.add(new StraightLine.At(cell.bytes(), seconds)));
      }
    }
    return StraightLine.through(points).orElse(null);
  }

  /** Returns the cells of a method on one kind of data, the smallest first. */
  public List<ResyncCell> cells(String method, Kind kind) {
    return cells.stream()
        .filter(cell -> cell.method().equals(method) && cell.kind().equals(kind))
        .sorted(Comparator.comparingLong(ResyncCell::bytes))
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
        .map(ResyncCell::kind)
        .distinct()
        .sorted(Comparator.comparingInt(Kind::collections).thenComparingInt(Kind::indexes))
        .toList();
  }

  /**
   * Returns the size in bytes of documents at which the two methods take the same time: the
   * intersection of their lines. Null if there are no lines, or they do not intersect.
   */
  public @Nullable Double crossover(Kind kind) {
    StraightLine logical = line(ResyncCell.LOGICAL, kind);
    StraightLine files = line(ResyncCell.FILES, kind);
    if (logical == null || files == null) {
      return null;
    }
    double at = (files.fixed() - logical.fixed()) / (logical.slope() - files.slope()) * (1L << 30);
    return Double.isFinite(at) && at > 0 ? at : null;
  }

  /** Returns the line of a method, with a slope per GiB; null without a line. */
  private @Nullable StraightLine line(String method, Kind kind) {
    return cells(method, kind).stream()
        .findFirst()
        .filter(cell -> cell.fixedSeconds() != null)
        .map(
            cell ->
                new StraightLine(
                    Objects.requireNonNull(cell.fixedSeconds()),
                    Objects.requireNonNull(cell.secondsPerGibibyte())))
        .orElse(null);
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
