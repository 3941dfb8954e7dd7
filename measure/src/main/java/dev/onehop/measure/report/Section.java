package dev.onehop.measure.report;

import java.util.ArrayList;
import java.util.List;

/** A part of a {@link Sheet}: text, charts and tables on one subject. Not thread-safe. */
final class Section {

  /** The kinds of output that show a section. */
  enum Medium {
    BOTH,
    TERMINAL,
    PAGE
  }

  private final String id;
  private final String title;
  private final Medium medium;
  private final List<String> text = new ArrayList<>();
  private final List<LineChart> charts = new ArrayList<>();
  private final List<Table> tables = new ArrayList<>();

  /**
   * Creates an empty section.
   *
   * @param id the anchor of the section, for the table of contents of a page
   */
  Section(String id, String title, Medium medium) {
    this.id = id;
    this.title = title;
    this.medium = medium;
  }

  Section(String id, String title) {
    this(id, title, Medium.BOTH);
  }

  String id() {
    return id;
  }

  String title() {
    return title;
  }

  boolean isIn(Medium where) {
    return medium == Medium.BOTH || medium == where;
  }

  List<String> text() {
    return text;
  }

  List<LineChart> charts() {
    return charts;
  }

  List<Table> tables() {
    return tables;
  }

  /** Adds sentences. Empty sentences are left out. */
  Section say(String... sentences) {
    List.of(sentences).stream().filter(sentence -> !sentence.isEmpty()).forEach(text::add);
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
