package dev.onehop.measure.results;

import dev.onehop.resync.Failure;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.HdrHistogram.HistogramLogWriter;

/**
 * Reads and writes the HdrHistogram logs of YCSB. There is one log per operation, with one line per
 * status interval. The intervals are merged into one histogram, because percentiles of intervals
 * cannot be averaged.
 */
public final class HdrLogs {

  private HdrLogs() {}

  /** Returns the log of an operation such as {@code READ} in a point's folder. */
  public static Path file(Path folder, String operation) {
    return folder.resolve("hdr-" + operation + ".hdr");
  }

  /**
   * Returns a prefix for YCSB, which appends the operation's name and {@code .hdr}. The result is
   * the path that {@link #file} returns.
   */
  public static String prefix(Path folder) {
    return folder.resolve("hdr-").toString();
  }

  /**
   * Reads the merged histogram of an operation, in microseconds.
   *
   * @return the histogram; empty if there is no log, or the log has no values
   * @throws Failure if the log is damaged
   */
  public static Optional<Histogram> merged(Path folder, String operation) {
    Path file = file(folder, operation);
    if (!Files.isRegularFile(file)) {
      return Optional.empty();
    }
    Histogram merged = sum(intervals(file).stream().map(Interval::histogram));
    return merged.getTotalCount() == 0 ? Optional.empty() : Optional.of(merged);
  }

  /** Returns the sum of histograms. */
  static Histogram sum(Stream<Histogram> histograms) {
    Histogram sum = new Histogram(3);
    histograms.forEach(sum::add);
    return sum;
  }

  /**
   * An interval of a log.
   *
   * @param second the begin of the interval, in seconds after the begin of the log
   * @param kind the kind of the latencies; empty without a kind
   * @param shard the shard of the operations; empty if the log does not distinguish shards
   * @param histogram the latencies in microseconds
   */
  record Interval(int second, String kind, String shard, Histogram histogram) {}

  /**
   * Reads a log. Tags are {@code OPERATION.KIND} or {@code OPERATION.KIND.SHARD}.
   *
   * @throws Failure if the file is missing or damaged
   */
  static List<Interval> intervals(Path file) {
    List<Interval> intervals = new ArrayList<>();
    try (HistogramLogReader reader = new HistogramLogReader(file.toFile())) {
      EncodableHistogram next;
      while ((next = reader.nextIntervalHistogram()) != null) {
        if (next instanceof Histogram histogram) {
          long from = next.getStartTimeStamp() - (long) (reader.getStartTimeSec() * 1000);
          String[] tag = String.valueOf(next.getTag()).split("\\.", 3);
          intervals.add(
              new Interval(
                  (int) Math.round(from / 1000.0),
                  tag.length > 1 ? tag[1] : "",
                  tag.length > 2 ? tag[2] : "",
                  histogram));
        }
      }
    } catch (FileNotFoundException e) {
      throw Failure.run("cannot read " + file, e);
    } catch (RuntimeException e) {
      throw Failure.run(file + " is damaged: " + Failure.firstLine(e), e);
    }
    return intervals;
  }

  /**
   * Returns the sum of all histograms of one kind in a file, in microseconds.
   *
   * @throws Failure if the file is missing or damaged
   */
  public static Histogram tagged(Path file, String kind) {
    return sum(
        intervals(file).stream()
            .filter(interval -> interval.kind().equals(kind))
            .map(Interval::histogram));
  }

  /**
   * Returns the names of the operations with logs in a point's folder.
   *
   * @throws Failure if the folder can't be read
   */
  public static Set<String> operations(Path folder) {
    Set<String> operations = new TreeSet<>();
    try (DirectoryStream<Path> logs = Files.newDirectoryStream(folder, "hdr-*.hdr")) {
      for (Path log : logs) {
        String name = String.valueOf(log.getFileName());
        operations.add(name.substring("hdr-".length(), name.length() - ".hdr".length()));
      }
    } catch (IOException e) {
      throw Failure.run("cannot read " + folder + ": " + Failure.reason(e), e);
    }
    return operations;
  }

  /**
   * Merges several clients' logs by operation into logs of the same format with one interval. The
   * counts of all histograms are added. A percentile is therefore the percentile of all samples.
   *
   * @param clients the clients' folders
   * @param into the folder for the merged logs
   * @throws Failure if a log is damaged or the merged logs can't be written
   */
  public static void merge(List<Path> clients, Path into) {
    Set<String> operations = new TreeSet<>();
    clients.forEach(client -> operations.addAll(operations(client)));
    for (String operation : operations) {
      write(
          file(into, operation),
          sum(clients.stream().flatMap(client -> merged(client, operation).stream())));
    }
  }

  /**
   * Writes a histogram as a log with one interval.
   *
   * @throws Failure if the log can't be written
   */
  public static void write(Path file, Histogram histogram) {
    try (PrintStream out =
        new PrintStream(Files.newOutputStream(file), false, StandardCharsets.US_ASCII)) {
      HistogramLogWriter writer = new HistogramLogWriter(out);
      writer.outputLogFormatVersion();
      writer.outputLegend();
      writer.outputIntervalHistogram(histogram);
    } catch (IOException e) {
      throw Failure.run("cannot write " + file + ": " + Failure.reason(e), e);
    }
  }
}
