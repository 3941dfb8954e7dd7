package dev.onehop.measure.report;

import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.ResyncCell;
import dev.onehop.measure.results.ResyncResults;
import dev.onehop.measure.results.ResyncResults.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A run of {@code onehop resync bench} as a text table, and its rows for the report. */
public final class ResyncTable {

  private static final List<String> COLUMNS =
      List.of(
          "method",
          "indexes",
          "collections",
          "MiB",
          "documents",
          "n",
          "seconds",
          "least-most",
          "fixed s",
          "s/GiB",
          "moved MiB",
          "locked s",
          "proved",
          "equal");

  private static final List<String> MEANWHILE =
      List.of(
          "method",
          "indexes",
          "collections",
          "MiB",
          "reads p50",
          "p99",
          "locked p50",
          "p99",
          "writes p50",
          "p99",
          "locked p50",
          "p99",
          "written",
          "lost");

  private static final String NOTES =
      """
      seconds: median of n runs, from the first step until the new member has caught up, with the server's start.
      fixed s, s/GiB: a straight line by least squares over all sizes of as many indexes and collections.
      moved MiB: of files what was written, indexes, journal and oplog included; of an initial sync the documents' bytes.
      reads, writes: ms; one document, read on the source, written on the primary, while a member is made; locked:
      while the source was locked. written: acknowledged meanwhile; lost: not there on the new member at the end.
      proved: its server's log says that this method has run. equal: dbHash is the same on all three members.
      """;

  private ResyncTable() {}

  /** The table with notes, lines ending in newlines. */
  public static String render(ResyncResults results) {
    StringBuilder text =
        new StringBuilder("Replica set of mongod ")
            .append(results.server().mongod())
            .append(", ")
            .append(results.run().workload())
            .append("\n\n");
    append(text, rows(results));
    append(text, meanwhile(results));
    text.append(NOTES).append('\n');
    sentences(results).forEach(sentence -> text.append(sentence).append('\n'));
    return text.toString();
  }

  private static void append(StringBuilder text, List<List<String>> rows) {
    int[] widths = ResultsTable.widths(rows);
    rows.forEach(row -> text.append(ResultsTable.line(row, widths)).append('\n'));
    text.append('\n');
  }

  static String notes() {
    return NOTES;
  }

  /** The rows on the methods, the columns' names first. */
  static List<List<String>> rows(ResyncResults results) {
    return rows(results, COLUMNS, ResyncTable::row);
  }

  /** Those on what applications noticed. */
  static List<List<String>> meanwhile(ResyncResults results) {
    return rows(results, MEANWHILE, ResyncTable::meanwhile);
  }

  private static List<List<String>> rows(
      ResyncResults results, List<String> columns, Function<ResyncCell, List<String>> row) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(columns);
    for (Kind kind : results.kinds()) {
      for (MethodLook look : MethodLook.values()) {
        results
            .cells(look.method(), kind.indexes(), kind.collections())
            .forEach(cell -> rows.add(row.apply(cell)));
      }
    }
    return rows;
  }

  private static List<String> row(ResyncCell cell) {
    return List.of(
        cell.method(),
        String.valueOf(cell.indexes()),
        String.valueOf(cell.collections()),
        Format.count(cell.bytes() >> 20),
        Format.count(cell.documents()),
        String.valueOf(cell.seconds().size()),
        seconds(cell.medianSeconds()),
        cell.seconds().isEmpty()
            ? Format.NONE
            : seconds(Collections.min(cell.seconds()))
                + "-"
                + seconds(Collections.max(cell.seconds())),
        seconds(cell.fixedSeconds()),
        seconds(cell.secondsPerGibibyte()),
        Format.count(cell.movedBytes() >> 20),
        seconds(cell.lockedSeconds()),
        cell.methodProved() ? "yes" : "NO",
        cell.equal() ? "yes" : "NO");
  }

  private static List<String> meanwhile(ResyncCell cell) {
    List<String> row =
        new ArrayList<>(
            List.of(
                cell.method(),
                String.valueOf(cell.indexes()),
                String.valueOf(cell.collections()),
                Format.count(cell.bytes() >> 20)));
    latency(row, cell.sourceReads());
    latency(row, cell.sourceReadsLocked());
    latency(row, cell.primaryWrites());
    latency(row, cell.primaryWritesLocked());
    row.add(Format.count(cell.written()));
    row.add(Format.count(cell.lost()));
    return row;
  }

  private static void latency(List<String> row, @Nullable LatencySummary latency) {
    row.add(latency == null ? Format.NONE : Format.millis(latency.p50()));
    row.add(latency == null ? Format.NONE : Format.millis(latency.p99()));
  }

  static String seconds(@Nullable Double seconds) {
    return seconds == null ? Format.NONE : String.format(Locale.ROOT, "%,.2f", seconds);
  }

  /** What the lines say, of each kind of data. */
  static List<String> sentences(ResyncResults results) {
    List<String> sentences = new ArrayList<>();
    for (Kind kind : results.kinds()) {
      List<ResyncCell> logical =
          results.cells(ResyncCell.LOGICAL, kind.indexes(), kind.collections());
      List<ResyncCell> files = results.cells(ResyncCell.FILES, kind.indexes(), kind.collections());
      if (!logical.isEmpty() && !files.isEmpty()) {
        sentences.add(title(kind) + ": " + comparison(results, kind, logical, files) + ".");
      }
    }
    return sentences;
  }

  static String title(Kind kind) {
    return kind.indexes()
        + (kind.indexes() == 1 ? " index, " : " indexes, ")
        + kind.collections()
        + (kind.collections() == 1 ? " collection" : " collections");
  }

  private static String comparison(
      ResyncResults results, Kind kind, List<ResyncCell> logical, List<ResyncCell> files) {
    ResyncCell largest = logical.get(logical.size() - 1);
    ResyncCell beside = files.get(files.size() - 1);
    String quicker = beside.medianSeconds() < largest.medianSeconds() ? "files" : "logical";
    String text =
        "at %s MiB files take %s s and an initial sync %s s (n = %d)"
            .formatted(
                Format.count(beside.bytes() >> 20),
                seconds(beside.medianSeconds()),
                seconds(largest.medianSeconds()),
                Math.min(beside.seconds().size(), largest.seconds().size()));
    if (largest.fixedSeconds() == null) {
      return text;
    }
    Double crossover = results.crossover(kind);
    if (crossover == null) {
      return text + "; the lines do not cross: " + quicker + " is quicker at every size";
    }
    boolean filesLater =
        Objects.requireNonNull(beside.secondsPerGibibyte())
            < Objects.requireNonNull(largest.secondsPerGibibyte());
    double most = Math.max(beside.bytes(), largest.bytes());
    double least = Math.min(files.get(0).bytes(), logical.get(0).bytes());
    String where =
        crossover > most
            ? ", more than was measured"
            : crossover < least ? ", less than was measured" : "";
    return text
        + "; the lines cross at %s MiB%s: beyond, %s"
            .formatted(
                Format.count(Math.round(crossover / (1 << 20))),
                where,
                filesLater ? "files are quicker" : "an initial sync is quicker");
  }
}
