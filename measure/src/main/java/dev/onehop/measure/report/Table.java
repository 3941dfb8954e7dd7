package dev.onehop.measure.report;

import java.util.ArrayList;
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
