package dev.onehop.cli.results;

import dev.onehop.cli.Failure;
import java.io.FileNotFoundException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/**
 * The HdrHistogram logs that YCSB writes, one per operation, one line per status interval. The
 * intervals are merged into one histogram; percentiles of intervals are never averaged.
 */
public final class HdrLogs {

  private HdrLogs() {}

  /** The log of an operation such as {@code READ} in a point's folder. */
  public static Path file(Path folder, String operation) {
    return folder.resolve("hdr-" + operation + ".hdr");
  }

  /** What YCSB is to put before an operation's name to arrive at {@link #file}. */
  public static String prefix(Path folder) {
    return folder.resolve("hdr-").toString();
  }

  /**
   * The merged histogram of an operation, in microseconds.
   *
   * @return empty if there is no log or nothing was recorded in it
   * @throws Failure if the log is damaged
   */
  public static Optional<Histogram> merged(Path folder, String operation) {
    Path file = file(folder, operation);
    if (!Files.isRegularFile(file)) {
      return Optional.empty();
    }
    Histogram merged = new Histogram(3);
    try (HistogramLogReader reader = new HistogramLogReader(file.toFile())) {
      EncodableHistogram interval;
      while ((interval = reader.nextIntervalHistogram()) != null) {
        if (interval instanceof Histogram histogram) {
          merged.add(histogram);
        }
      }
    } catch (FileNotFoundException e) {
      throw Failure.run("cannot read " + file, e);
    } catch (RuntimeException e) {
      throw Failure.run(file + " is damaged: " + Failure.firstLine(e), e);
    }
    return merged.getTotalCount() == 0 ? Optional.empty() : Optional.of(merged);
  }
}
