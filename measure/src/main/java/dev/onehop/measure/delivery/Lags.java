package dev.onehop.measure.delivery;

import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.HdrLogs;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.bson.RawBsonDocument;

/**
 * The lags of the rows that were written in a window of time. Each row has two lags: since its
 * commit, and since its write was issued. Thread-safe.
 */
final class Lags implements ArrivalLog.Timing {

  private static final int DIGITS = 3;

  private final Histogram sinceCommit = new ConcurrentHistogram(DIGITS);
  private final Histogram sinceIssued = new ConcurrentHistogram(DIGITS);
  private final LongAdder negative = new LongAdder();
  private volatile long windowFrom = Long.MAX_VALUE;
  private volatile long windowTo = Long.MIN_VALUE;

  /**
   * Sets the window.
   *
   * @param from the earliest issue time of a write that counts, by {@link SteadyClock}
   */
  void setWindow(long from, long to) {
    windowTo = to;
    windowFrom = from;
  }

  @Override
  public void time(Row row, RawBsonDocument event, long seenMicros) {
    if (row.beganMicros() >= windowFrom && row.beganMicros() < windowTo) {
      record(sinceIssued, seenMicros - row.beganMicros());
      Long committed = Row.committedMillis(event);
      if (committed != null) {
        record(sinceCommit, seenMicros - committed * 1000);
      }
    }
  }

  /**
   * Records a lag. A histogram has no values below zero, so a lag below zero is counted separately.
   */
  private void record(Histogram histogram, long micros) {
    if (micros < 0) {
      negative.increment();
    } else {
      histogram.recordValue(micros);
    }
  }

  /** The number of lags below zero, which occur only if a clock was set. */
  long negative() {
    return negative.sum();
  }

  /**
   * Writes the HdrHistogram logs into an existing folder. No row may be recorded during the call.
   */
  void write(Path folder) {
    write(HdrLogs.file(folder, ConsumePoint.LAG_LOG), sinceCommit);
    write(HdrLogs.file(folder, ConsumePoint.SINCE_ISSUED_LOG), sinceIssued);
  }

  /** Writes times as an HdrHistogram log whose one interval is the present moment. */
  static void write(Path file, Histogram times) {
    times.setStartTimeStamp(SteadyClock.micros() / 1_000);
    times.setEndTimeStamp(times.getStartTimeStamp());
    HdrLogs.write(file, times);
  }
}
