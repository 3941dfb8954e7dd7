package dev.onehop.measure.delivery;

import dev.onehop.measure.frame.Parallel;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Subscriptions to one query by all paths of {@link StreamPath#TIMED} at the same time. An instance
 * subscribes once.
 */
final class Subscribers implements AutoCloseable {

  /**
   * The wait after the last row, in milliseconds. Rows that arrive again during this wait are still
   * counted.
   */
  private static final long SETTLE_MILLIS = 200;

  private final Map<StreamPath, Subscription> subscriptions = new EnumMap<>(StreamPath.class);

  /**
   * Creates subscriptions that have not started.
   *
   * @param number the number of these subscribers in the run, from 0; each number has separate
   *     signals
   */
  Subscribers(Subscription.Query query, int number) {
    int count = number * StreamPath.TIMED.size();
    for (StreamPath path : StreamPath.TIMED) {
      subscriptions.put(path, new Subscription(path, query, 2 * count++));
    }
  }

  /**
   * Subscribes while the writers write, and waits until all written rows have arrived.
   *
   * @param writers the writers; they start some time before the subscriptions and stop some time
   *     after all subscriptions are live
   * @param rate the rows per second of each writer
   */
  static void run(
      Collection<RowWriter> writers,
      double rate,
      List<Subscribers> all,
      long beforeMillis,
      long afterMillis)
      throws InterruptedException {
    for (RowWriter writer : writers) {
      writer.start(rate, Double.MAX_VALUE);
    }
    Thread.sleep(beforeMillis);
    List<Subscription> each = new ArrayList<>();
    all.forEach(subscribers -> each.addAll(subscribers.subscriptions.values()));
    Parallel.forEach(each, Subscription::subscribe);
    Thread.sleep(afterMillis);
    for (RowWriter writer : writers) {
      writer.stop();
    }
    Parallel.forEach(each, Subscription::awaitWritten);
    Thread.sleep(SETTLE_MILLIS);
  }

  /** Returns the subscription by a path of {@link StreamPath#TIMED}. */
  Subscription by(StreamPath path) {
    return Objects.requireNonNull(subscriptions.get(path));
  }

  /**
   * Adds the numbers of lost and repeated rows of a path to {@code findings}.
   *
   * @param written the rows that were acknowledged to the query's writer
   */
  void addFaults(StreamPath path, RowSet written, Findings findings) {
    RowChecker.Verdict verdict = by(path).checker().verdict(written);
    findings.faults(verdict.lost(), verdict.doubled());
  }

  @Override
  public void close() {
    subscriptions.values().forEach(Subscription::close);
  }
}
