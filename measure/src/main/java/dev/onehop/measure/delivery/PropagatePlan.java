package dev.onehop.measure.delivery;

import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.report.Format;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a run. Immutable.
 *
 * @param measurements the measurements, in the order in which they run
 * @param tests the number of tests of each measurement that count
 * @param documents the numbers of objects of a test or a query; each number is measured
 * @param batches the numbers of objects of a write; each number is measured
 * @param bytes the sizes of an object in bytes; each size is measured
 * @param rate the writes per second; null if each write begins when the previous write has ended
 * @param await the time for which servers may wait for events before they reply without events
 * @param total whether the ordered path has one order of all events
 * @param clients the numbers of clients of {@code load}; each number is measured
 * @param processes the largest number of processes for the clients
 * @param clientRate the writes per second of each client
 * @param duration the time for which the clients write after all of them are live
 */
public record PropagatePlan(
    List<Measurement> measurements,
    int tests,
    List<Integer> documents,
    List<Integer> batches,
    List<Integer> bytes,
    @Nullable Double rate,
    Duration await,
    boolean total,
    List<Integer> clients,
    int processes,
    double clientRate,
    Duration duration) {

  /** The additional time of a point, for connecting clients and for opening and closing streams. */
  private static final Duration POINT_OVERHEAD = Duration.ofSeconds(2);

  /** The additional time of a test. */
  private static final Duration TEST_OVERHEAD = Duration.ofMillis(100);

  /** The time of a subscription without the wait for streams. */
  private static final Duration SUBSCRIBING = Duration.ofMillis(1_200);

  /** The time that client processes need to start their JVMs and to warm up. */
  private static final Duration LOAD_OVERHEAD = Duration.ofSeconds(10);

  /**
   * One measurement with one number of objects, batch size, object size and number of clients.
   *
   * @param batch the number of objects per write
   * @param clients the number of clients; 1 except for {@code load}
   */
  public record Point(Measurement measurement, int documents, int batch, int bytes, int clients)
      implements Bench.Cell {

    @Override
    public String title() {
      String size = measurement.label() + ", " + Format.counted(documents, "object");
      if (measurement.isPropagation()) {
        size += ", %,d per write".formatted(batch);
      }
      return measurement == Measurement.LOAD
          ? size + ", " + Format.counted(clients, "client")
          : size;
    }

    /** The name of the point's folder. */
    String folder() {
      return "%s-%d-%d-%d-%d".formatted(measurement.label(), documents, batch, bytes, clients);
    }
  }

  /**
   * The expected time of a point.
   *
   * @param noopSeconds the interval in seconds of idle servers' no-op writes, for which a mongos'
   *     stream waits
   */
  Duration estimate(Point point, double noopSeconds) {
    // The mean delay of a mongos' stream is half of the wait for events plus half of the interval.
    Duration behind = await.plusMillis((long) (1_000 * noopSeconds)).dividedBy(2);
    if (point.measurement() == Measurement.LOAD) {
      return LOAD_OVERHEAD.plus(behind.multipliedBy(4)).plus(duration);
    }
    Duration test = behind.plus(TEST_OVERHEAD);
    if (!point.measurement().isPropagation()) {
      test = behind.multipliedBy(2).plus(SUBSCRIBING);
    } else if (rate != null) {
      test = test.plusMillis((long) (1_000.0 * point.documents() / point.batch() / rate));
    }
    return POINT_OVERHEAD.plus(test.multipliedBy(tests + 1));
  }

  /** Returns all points, in the order in which they run. */
  List<Point> points() {
    List<Point> points = new ArrayList<>();
    for (Measurement each : measurements) {
      for (int size : bytes) {
        for (int count : documents) {
          for (int batch : each.isPropagation() ? batches : List.of(1)) {
            for (int parallel : each == Measurement.LOAD ? clients : List.of(1)) {
              points.add(new Point(each, count, batch, size, parallel));
            }
          }
        }
      }
    }
    return points;
  }
}
