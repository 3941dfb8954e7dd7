package dev.onehop.measure.report;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A part of a {@link Sheet}: text, charts and tables on one subject. Not thread-safe.
 *
 * @param id the anchor of the section, for the table of contents of a page
 * @param medium the kind of output that shows the section
 * @param text the sentences
 */
record Section(
    String id,
    String title,
    Medium medium,
    List<String> text,
    List<LineChart> charts,
    List<Table> tables) {

  /** The kinds of output that show a section. */
  enum Medium {
    BOTH,
    TERMINAL,
    PAGE
  }

  /** Creates an empty section. */
  Section(String id, String title, Medium medium) {
    this(id, title, medium, new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
  }

  Section(String id, String title) {
    this(id, title, Medium.BOTH);
  }

  boolean isIn(Medium where) {
    return medium == Medium.BOTH || medium == where;
  }

  /** Adds sentences. Empty sentences are left out. */
  Section say(String... sentences) {
    Stream.of(sentences).filter(sentence -> !sentence.isEmpty()).forEach(text::add);
    return this;
  }

  /** Adds a chart. A chart without lines is left out. */
  Section chart(LineChart chart) {
    if (!chart.isEmpty()) {
      charts.add(chart);
    }
    return this;
  }

  /** Adds charts with the same vertical scale. */
  Section alike(List<LineChart> several) {
    List<LineChart> drawn = several.stream().filter(chart -> !chart.isEmpty()).toList();
    LineChart.alike(drawn);
    charts.addAll(drawn);
    return this;
  }

  /** Adds a table with these columns. A table without rows is left out. */
  Section table(Columns<?> columns) {
    return table(columns.table());
  }

  /** Adds a table. A table without rows is left out. */
  Section table(Table table) {
    if (!table.rows().isEmpty()) {
      tables.add(table);
    }
    return this;
  }

  /** Whether the section has no text, no chart and no table. */
  boolean isEmpty() {
    return text.isEmpty() && charts.isEmpty() && tables.isEmpty();
  }
}
