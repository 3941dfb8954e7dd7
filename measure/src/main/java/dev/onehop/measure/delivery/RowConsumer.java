package dev.onehop.measure.delivery;

import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.HdrLogs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.HdrHistogram.Histogram;
import org.bson.RawBsonDocument;

/**
 * What a consumer does with events: reads each row, checks it and measures how late it came. A row
 * counts for lags if its write was issued in the window.
 */
final class RowConsumer implements EventStream.Consumer {

  /** The file of what was seen. */
  static final String SEEN = "seen";

  private static final int DIGITS = 3;

  private final ConsumerTask task;
  private final RowChecker checker = new RowChecker();
  private final List<Channel> channels = new ArrayList<>();
  private final LongAdder rows = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final LongAdder negative = new LongAdder();
  private final AtomicLong lastMicros = new AtomicLong();
  private volatile long windowFrom = Long.MAX_VALUE;
  private volatile long windowTo = Long.MIN_VALUE;

  /** One channel's own; used by one thread at a time. */
  private static final class Channel {
    final Histogram lag = new Histogram(DIGITS);
    final Histogram sinceIssued = new Histogram(DIGITS);
    String token = "";
  }

  RowConsumer(ConsumerTask task) {
    this.task = task;
    for (int i = 0; i < task.channels(); i++) {
      channels.add(new Channel());
    }
  }

  /**
   * Sets which rows count for lags.
   *
   * @param from when their writes were issued, in microseconds since 1970
   */
  void setWindow(long from, long to) {
    windowTo = to;
    windowFrom = from;
  }

  @Override
  public void take(int number, RawBsonDocument event) {
    if (!task.hasChannel(number)) {
      return;
    }
    long now = Clock.micros();
    RowEvent row = RowEvent.of(event);
    if (row == null || row.run() != task.run()) {
      return;
    }
    Channel channel = channels.get(number);
    if (task.isTotallyOrdered()) {
      String token = RowEvent.token(event);
      if (token.compareTo(channel.token) < 0) {
        checker.stepBack();
      }
      channel.token = token;
    }
    checker.take(number, row.number(), row.version());
    rows.increment();
    bytes.add(RowEvent.size(event));
    lastMicros.accumulateAndGet(now, Math::max);
    if (row.issuedMicros() >= windowFrom && row.issuedMicros() < windowTo) {
      record(channel.sinceIssued, now - row.issuedMicros());
      Long committed = row.committedMillis();
      if (committed != null) {
        record(channel.lag, now - committed * 1000);
      }
    }
  }

  /** A lag below zero has no place in a histogram; it is counted and reported. */
  private void record(Histogram histogram, long micros) {
    if (micros < 0) {
      negative.increment();
    } else {
      histogram.recordValue(micros);
    }
  }

  RowChecker checker() {
    return checker;
  }

  /** Events of the run's rows so far. */
  long rows() {
    return rows.sum();
  }

  /** Their bytes so far. */
  long bytes() {
    return bytes.sum();
  }

  /** When the last of them was taken, in microseconds since 1970; 0 if none was. */
  long lastMicros() {
    return lastMicros.get();
  }

  /** Lags below zero. */
  long negative() {
    return negative.sum();
  }

  /**
   * Writes the histograms and what was seen; to be called when the channels are at rest.
   *
   * @param folder that exists
   */
  void write(Path folder) throws IOException {
    checker.seen().write(folder.resolve(SEEN));
    write(folder, ConsumePoint.LAG_LOG, channel -> channel.lag);
    write(folder, ConsumePoint.SINCE_ISSUED_LOG, channel -> channel.sinceIssued);
  }

  private void write(Path folder, String name, Function<Channel, Histogram> of) {
    Histogram sum = new Histogram(DIGITS);
    channels.forEach(channel -> sum.add(of.apply(channel)));
    sum.setStartTimeStamp(Clock.micros() / 1_000);
    sum.setEndTimeStamp(sum.getStartTimeStamp());
    HdrLogs.write(HdrLogs.file(folder, name), sum);
  }
}
