package dev.onehop.measure.report;

import dev.onehop.measure.report.Table.Cell;
import dev.onehop.measure.results.LatencySummary;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a table with a row for each item: their names, and the text of each cell. Not
 * thread-safe.
 *
 * @param <P> the type of the items
 */
final class Columns<P> {

  /** A column: its name, its cells, and its notes below the table. */
  private static final class Column {
    private final String name;
    private final List<Cell> cells;
    private String legend = "";
    private String missing = "";

    Column(String name, List<Cell> cells) {
      this.name = name;
      this.cells = cells;
    }

    /** Whether there are rows, and none of them has a value. */
    boolean isWithoutValues() {
      return !cells.isEmpty() && cells.stream().allMatch(cell -> cell.text().equals(Format.NONE));
    }
  }

  private final String caption;
  private final List<P> items;
  private final List<Column> columns = new ArrayList<>();

  /** The index of the column that a legend belongs to. */
  private int last;

  /**
   * Begins a table without columns.
   *
   * @param caption the title; empty if the section has only this table
   */
  Columns(String caption, List<P> items) {
    this.caption = caption;
    this.items = items;
  }

  /**
   * Adds a column of texts.
   *
   * @param name the heading, with the unit if the table's caption does not have it
   * @param cell returns the text of a row; {@link Format#NONE} without a value
   */
  Columns<P> text(String name, Function<P, String> cell) {
    return bars(name, cell, row -> List.of());
  }

  /** Adds a column of texts with bars: their lengths from 0 to 1, which a page draws. */
  Columns<P> bars(String name, Function<P, String> cell, Function<P, List<Double>> bars) {
    last = columns.size();
    columns.add(
        new Column(
            name, items.stream().map(row -> new Cell(cell.apply(row), bars.apply(row))).toList()));
    return this;
  }

  /** Adds a column of numbers. Numbers may be missing. */
  Columns<P> of(
      String name,
      Function<@Nullable Number, String> format,
      Function<P, ? extends @Nullable Number> value) {
    return text(name, row -> format.apply(value.apply(row)));
  }

  /**
   * Adds a column for each figure of a latency, in milliseconds. The heading of the first column
   * begins with {@code name}.
   *
   * @param figures the names of figures, as in {@link LatencySummary#figure}
   */
  Columns<P> latencies(
      String name, Function<P, @Nullable LatencySummary> latency, String... figures) {
    int first = columns.size();
    for (String figure : figures) {
      of(
          name.isEmpty() || columns.size() > first ? figure : name + " " + figure,
          figure.equals("n") ? Format::whole : Format::millis,
          row -> {
            LatencySummary its = latency.apply(row);
            return its == null ? null : (Double) its.figure(figure);
          });
    }
    last = first;
    return this;
  }

  /** Adds an explanation to the last column; to the first column of the last latency. */
  Columns<P> means(String legend) {
    columns.get(last).legend = legend;
    return this;
  }

  /** Adds a possible reason why no row has a value, to the same column as a legend. */
  Columns<P> missingIf(String why) {
    columns.get(last).missing = why;
    return this;
  }

  /** Returns the table. Columns without any value are left out. */
  Table table() {
    List<Column> shown = columns.stream().filter(column -> !column.isWithoutValues()).toList();
    List<String> notes = notes(shown);
    List<String> without =
        columns.stream()
            .filter(Column::isWithoutValues)
            .map(each -> each.name + (each.missing.isEmpty() ? "" : " (" + each.missing + ")"))
            .toList();
    if (!without.isEmpty()) {
      notes.add("columns left out because they have no values: " + String.join(", ", without));
    }
    List<List<Cell>> rows = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      int row = i;
      rows.add(shown.stream().map(column -> column.cells.get(row)).toList());
    }
    return new Table(caption, shown.stream().map(column -> column.name).toList(), rows, notes);
  }

  /**
   * Returns the table with a column for each item and a row for each column. The texts of the first
   * column are the names of the table's columns.
   */
  Table transposed() {
    List<String> names = new ArrayList<>(List.of(columns.get(0).name));
    columns.get(0).cells.forEach(cell -> names.add(cell.text()));
    List<List<Cell>> rows = new ArrayList<>();
    for (Column column : columns.subList(1, columns.size())) {
      List<Cell> row = new ArrayList<>(List.of(new Cell(column.name, List.of())));
      row.addAll(column.cells);
      rows.add(row);
    }
    return new Table(caption, names, rows, notes(columns));
  }

  private static List<String> notes(List<Column> columns) {
    List<String> notes = new ArrayList<>();
    columns.stream()
        .filter(column -> !column.legend.isEmpty())
        .forEach(column -> notes.add(column.name + ": " + column.legend));
    return notes;
  }
}
