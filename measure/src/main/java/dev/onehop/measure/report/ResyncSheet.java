package dev.onehop.measure.report;

import dev.onehop.measure.report.LineChart.Spot;
import dev.onehop.measure.results.ResyncCell;
import dev.onehop.measure.results.ResyncResults;
import dev.onehop.measure.results.ResyncResults.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/** The sheet of {@code onehop resync bench}: a new member by initial sync or by a copy of files. */
final class ResyncSheet {
  private static final List<String> METHODS = List.of(ResyncCell.LOGICAL, ResyncCell.FILES);

  private final ResyncResults results;
  private final List<ResyncCell> cells = new ArrayList<>();

  ResyncSheet(ResyncResults results) {
    this.results = results;
    for (Kind kind : results.kinds()) {
      METHODS.forEach(method -> cells.addAll(results.cells(method, kind)));
    }
  }

  Sheet sheet() {
    Sheet sheet =
        new Sheet(
            "OneHop resync: a new member, by initial sync or by a copy of files", results, "");
    results.kinds().forEach(kind -> compare(sheet, kind));
    if (!hasFit()) {
      sheet.limit(
          "Each method was measured once at each size (n = 1), so no lines are fitted, and"
              + " differences of about 10 % can be chance.");
    }
    Section section = new Section("sizes", "Seconds until the new member has caught up");
    section.alike(results.kinds().stream().map(this::chart).toList());
    return sheet.add(section.table(methods()).table(meanwhile()));
  }

  /**
   * Whether lines are fitted: only if a size was measured more than once, because a line through
   * single measurements shows only noise.
   */
  private boolean hasFit() {
    return cells.stream().anyMatch(cell -> cell.seconds().size() > 1);
  }

  private static String title(Kind kind) {
    return Format.counted(kind.indexes(), "index")
        + ", "
        + Format.counted(kind.collections(), "collection");
  }

  /** Compares the two methods on one kind of data, at the largest size. */
  private void compare(Sheet sheet, Kind kind) {
    List<ResyncCell> logical = results.cells(ResyncCell.LOGICAL, kind);
    List<ResyncCell> files = results.cells(ResyncCell.FILES, kind);
    if (logical.isEmpty() || files.isEmpty()) {
      return;
    }
    ResyncCell sync = logical.get(logical.size() - 1);
    ResyncCell copy = files.get(files.size() - 1);
    String verdict =
        Verdict.faster(
            sync.medianSeconds() / copy.medianSeconds(),
            "the copy also starts a server and locks its source");
    sheet.say(
        ("%s, %s MiB: a copy of files takes %s s, and an initial sync takes %s s (n = %d). The copy"
                + " of files is %s the initial sync%s.")
            .formatted(
                title(kind),
                Format.whole(copy.bytes() >> 20),
                Format.hundredths(copy.medianSeconds()),
                Format.hundredths(sync.medianSeconds()),
                Math.min(copy.seconds().size(), sync.seconds().size()),
                verdict,
                hasFit() && sync.fixedSeconds() != null ? crossing(kind, logical, files) : ""));
    sheet.figure(
        Format.hundredths(copy.medianSeconds()) + " s",
        "by files, %s MiB, %s".formatted(Format.whole(copy.bytes() >> 20), title(kind)),
        Format.hundredths(sync.medianSeconds()) + " s by initial sync");
  }

  private String crossing(Kind kind, List<ResyncCell> logical, List<ResyncCell> files) {
    ResyncCell sync = logical.get(logical.size() - 1);
    ResyncCell copy = files.get(files.size() - 1);
    Double crossover = results.crossover(kind);
    if (crossover == null) {
      boolean filesFaster = copy.medianSeconds() < sync.medianSeconds();
      return ". The fitted lines do not cross: %s is faster at every size"
          .formatted(filesFaster ? "the copy of files" : "the initial sync");
    }
    boolean filesLater =
        Objects.requireNonNull(copy.secondsPerGibibyte())
            < Objects.requireNonNull(sync.secondsPerGibibyte());
    double most = Math.max(copy.bytes(), sync.bytes());
    double least = Math.min(files.get(0).bytes(), logical.get(0).bytes());
    return ". The fitted lines cross at %s MiB%s. Above this size, %s"
        .formatted(
            Format.mebibytes(crossover),
            crossover > most
                ? " (above all measured sizes)"
                : crossover < least ? " (below all measured sizes)" : "",
            filesLater ? "the copy of files is faster" : "the initial sync is faster");
  }

  private Columns<ResyncCell> head(String caption) {
    return new Columns<>(caption, cells)
        .text("method", ResyncCell::method)
        .of("indexes", Format::whole, ResyncCell::indexes)
        .of("collections", Format::whole, ResyncCell::collections)
        .of("MiB", Format::whole, cell -> cell.bytes() >> 20);
  }

  private Columns<ResyncCell> methods() {
    String once = "a fitted line needs several sizes, and more than one run of each size";
    return head("Methods")
        .of("documents", Format::whole, ResyncCell::documents)
        .of("n", Format::whole, cell -> cell.seconds().size())
        .of("seconds", Format::hundredths, ResyncCell::medianSeconds)
        .means(
            "median of n runs, from the first step until the new member has caught up; the start of"
                + " its server is included")
        .text("least-most", cell -> Format.range(cell.seconds(), Format::hundredths))
        .missingIf("n = 1")
        .of("fixed s", Format::hundredths, cell -> hasFit() ? cell.fixedSeconds() : null)
        .means(
            "the columns fixed s and s/GiB are fitted by least squares over all sizes: seconds ="
                + " (fixed s) + (s/GiB) * (GiB of documents)")
        .missingIf(once)
        .of("s/GiB", Format::hundredths, cell -> hasFit() ? cell.secondsPerGibibyte() : null)
        .missingIf(once)
        .of("moved MiB", Format::whole, cell -> cell.movedBytes() >> 20)
        .means(
            "copy of files: all written bytes, including indexes, journal and oplog; initial sync:"
                + " the bytes of the documents")
        .of("locked s", Format::hundredths, ResyncCell::lockedSeconds)
        .text("proved", cell -> Format.yes(cell.methodProved()))
        .means("the new member's log shows that this method has run")
        .text("equal", cell -> Format.yes(cell.equal()))
        .means("dbHash is equal on all three members");
  }

  private Columns<ResyncCell> meanwhile() {
    return head("Latencies of applications, in ms")
        .latencies("reads", ResyncCell::sourceReads, "p50", "p99")
        .latencies("locked", ResyncCell::sourceReadsLocked, "p50", "p99")
        .latencies("writes", ResyncCell::primaryWrites, "p50", "p99")
        .latencies("locked", ResyncCell::primaryWritesLocked, "p50", "p99")
        .of("written", Format::whole, ResyncCell::written)
        .means(
            "writes that were acknowledged while the member was added. The columns reads and"
                + " writes: latencies of single documents, read at the source or written at the"
                + " primary. The columns locked: the same while the source was locked")
        .of("lost", Format::whole, ResyncCell::lost)
        .means("acknowledged writes that are missing on the new member at the end");
  }

  private LineChart chart(Kind kind) {
    List<ResyncCell> those = cells.stream().filter(cell -> cell.kind().equals(kind)).toList();
    LineChart chart =
        new LineChart(
            "Seconds by size, %s; median, least and most".formatted(title(kind)),
            Axis.counts("MiB of documents", those.stream().map(ResyncSheet::mebibytes).toList()),
            "seconds",
            false);
    return chart.lines(
        those,
        cell -> LineStyle.of(cell.method()),
        cell ->
            new Spot(
                mebibytes(cell),
                cell.medianSeconds(),
                Collections.min(cell.seconds()),
                Collections.max(cell.seconds())));
  }

  private static int mebibytes(ResyncCell cell) {
    return Math.toIntExact(Math.max(1, Math.round(cell.bytes() / (double) (1 << 20))));
  }
}
