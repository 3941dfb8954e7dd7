package dev.onehop.measure.report;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * A table for a terminal or a page.
 *
 * @param caption the title; empty if the section has only this table
 * @param columns the names of the columns with values
 * @param rows the rows, with one cell for each column
 * @param notes the meaning of the columns, and the columns that are left out because they have no
 *     values
 */
record Table(String caption, List<String> columns, List<List<Cell>> rows, List<String> notes) {

  /**
   * A cell.
   *
   * @param text the text of the cell
   * @param bars the lengths of the bars that a page draws above the text, from 0 to 1
   */
  record Cell(String text, List<Double> bars) {}

  /** Returns a table with a row for each item. Columns without any value are left out. */
  @SafeVarargs
  static <P> Table of(String caption, List<P> items, Collection<Column<P>>... groups) {
    List<String> names = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    List<List<Cell>> rows = new ArrayList<>();
    items.forEach(item -> rows.add(new ArrayList<>()));
    List<String> without = new ArrayList<>();
    List<Column<P>> all = new ArrayList<>();
    for (Collection<Column<P>> group : groups) {
      all.addAll(group);
    }
    for (Column<P> column : all) {
      List<String> texts = items.stream().map(column.cell()).toList();
      if (!texts.isEmpty() && texts.stream().allMatch(Format.NONE::equals)) {
        String why = column.missing();
        without.add(column.name() + (why.isEmpty() ? "" : " (" + why + ")"));
        continue;
      }
      names.add(column.name());
      for (int i = 0; i < items.size(); i++) {
        rows.get(i).add(new Cell(texts.get(i), column.bars().apply(items.get(i))));
      }
      if (!column.legend().isEmpty()) {
        notes.add(column.name() + ": " + column.legend());
      }
    }
    if (!without.isEmpty()) {
      notes.add("columns left out because they have no values: " + String.join(", ", without));
    }
    return new Table(caption, names, rows, notes);
  }

  /** Returns this table with further notes. */
  Table noting(List<String> more) {
    List<String> together = new ArrayList<>(notes);
    together.addAll(more);
    return new Table(caption, columns, rows, together);
  }

  /**
   * Returns the text for a terminal. Columns are two spaces apart. The first column is
   * left-aligned, and all others are right-aligned.
   *
   * @param said the notes of the tables above, which are not repeated; this method adds the notes
   *     of this table
   */
  String text(Set<String> said) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(columns);
    rows.forEach(row -> lines.add(row.stream().map(Cell::text).toList()));
    StringBuilder text = new StringBuilder(caption.isEmpty() ? "" : "\n" + caption + "\n");
    for (List<String> line : lines) {
      StringBuilder padded = new StringBuilder();
      for (int i = 0; i < line.size(); i++) {
        String padding = " ".repeat(width(i) - line.get(i).length());
        padded.append(i == 0 ? line.get(i) + padding : padding + line.get(i)).append("  ");
      }
      text.append(padded.toString().stripTrailing()).append('\n');
    }
    notes.stream().filter(said::add).forEach(note -> text.append("  ").append(note).append('\n'));
    return text.toString();
  }

  /** The width of all columns together in letters. The layout of a page depends on it. */
  int letters() {
    int letters = 0;
    for (int i = 0; i < columns.size(); i++) {
      letters += width(i) + 3;
    }
    return letters;
  }

  private int width(int column) {
    return rows.stream()
        .mapToInt(row -> row.get(column).text().length())
        .reduce(columns.get(column).length(), Math::max);
  }
}
