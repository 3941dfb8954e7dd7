package dev.onehop.measure.delivery;

import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.HdrLogs;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.bson.RawBsonDocument;

/**
 * The lags of the rows that were written in a window of time. Each row has two lags: since its
 * commit, and since its write was issued. Thread-safe if one thread at a time records each
 * channel's rows.
 */
final class Lags implements ArrivalLog.Timing {

  private static final int DIGITS = 3;

  private final List<Histogram> sinceCommit = new ArrayList<>();
  private final List<Histogram> sinceIssued = new ArrayList<>();
  private final LongAdder negative = new LongAdder();
  private volatile long windowFrom = Long.MAX_VALUE;
  private volatile long windowTo = Long.MIN_VALUE;

  /** Creates empty lags for a number of channels. */
  Lags(int channels) {
    for (int i = 0; i < channels; i++) {
      sinceCommit.add(new Histogram(DIGITS));
      sinceIssued.add(new Histogram(DIGITS));
    }
  }

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
  public void time(int channel, Row row, RawBsonDocument event, long seenMicros) {
    if (row.beganMicros() >= windowFrom && row.beganMicros() < windowTo) {
      record(sinceIssued.get(channel), seenMicros - row.beganMicros());
      Long committed = Row.committedMillis(event);
      if (committed != null) {
        record(sinceCommit.get(channel), seenMicros - committed * 1000);
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

  private static void write(Path file, List<Histogram> channels) {
    Histogram sum = new Histogram(DIGITS);
    channels.forEach(sum::add);
    sum.setStartTimeStamp(SteadyClock.micros() / 1_000);
    sum.setEndTimeStamp(sum.getStartTimeStamp());
    HdrLogs.write(file, sum);
  }
}
