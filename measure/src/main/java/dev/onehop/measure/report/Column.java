package dev.onehop.measure.report;

import dev.onehop.measure.results.LatencySummary;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A column of a table: its name, and the text of each row's cell.
 *
 * @param name the heading, with the unit if the table's caption does not have it
 * @param legend an explanation for the notes below the table; empty if the name is clear
 * @param missing a possible reason why no row has a value, for the notes; empty if unknown
 * @param cell returns the text of a row; {@link Format#NONE} without a value
 * @param bars returns the lengths of the bars that a page draws in the cell of a row, from 0 to 1;
 *     empty in most columns
 * @param <P> the type of the items; each item has a row
 */
record Column<P>(
    String name,
    String legend,
    String missing,
    Function<P, String> cell,
    Function<P, List<Double>> bars) {

  /** Returns a column of texts. */
  static <P> Column<P> text(String name, Function<P, String> cell) {
    return new Column<>(name, "", "", cell, row -> List.of());
  }

  /** Returns a column of numbers. Numbers may be missing. */
  static <P> Column<P> of(
      String name, Function<Number, String> format, Function<P, ? extends @Nullable Number> value) {
    return text(
        name,
        row -> {
          Number number = value.apply(row);
          return number == null ? Format.NONE : format.apply(number);
        });
  }

  /**
   * Returns a column for each figure of a latency, in milliseconds. The heading of the first column
   * begins with {@code name}.
   *
   * @param figures the names of figures, as in {@link LatencySummary#figure}
   */
  static <P> List<Column<P>> latencies(
      String name, Function<P, @Nullable LatencySummary> latency, String... figures) {
    List<Column<P>> columns = new ArrayList<>();
    for (String figure : figures) {
      String prefix = columns.isEmpty() && !name.isEmpty() ? name + " " : "";
      Function<Number, String> format = figure.equals("n") ? Format::whole : Format::millis;
      columns.add(
          of(
              prefix + figure,
              format,
              row -> {
                LatencySummary its = latency.apply(row);
                return its == null ? null : (Double) its.figure(figure);
              }));
    }
    return columns;
  }

  /** Adds a legend. */
  Column<P> means(String what) {
    return new Column<>(name, what, missing, cell, bars);
  }

  /** Adds the possible reason of missing values. */
  Column<P> missingIf(String why) {
    return new Column<>(name, legend, why, cell, bars);
  }

  /** Adds bars. */
  Column<P> withBars(Function<P, List<Double>> fractions) {
    return new Column<>(name, legend, missing, cell, fractions);
  }
}
