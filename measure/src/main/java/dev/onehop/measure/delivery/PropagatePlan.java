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
 * @param measurements in the order they run
 * @param tests the number of timed tests of each
 * @param documents numbers of objects of a test, or of a query; a measurement for each
 * @param batches numbers of objects of a write; a measurement for each
 * @param bytes sizes of an object; a measurement for each
 * @param rate writes per second; null for one after the other
 * @param await how long servers may wait for events before they reply without any
 * @param total whether the ordered path has one order of all events
 * @param clients numbers of clients of {@code load}; a measurement for each
 * @param processes the most processes for the clients
 * @param clientRate writes per second of each client
 * @param duration how long the clients write after all of them are live
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

  /** The time of a point for connecting clients, and for opening and closing streams. */
  private static final Duration POINT_OVERHEAD = Duration.ofSeconds(2);

  /** The additional time of a test. */
  private static final Duration TEST_OVERHEAD = Duration.ofMillis(100);

  /** The time of a subscription without the wait for streams. */
  private static final Duration SUBSCRIBING = Duration.ofMillis(1_200);

  /** The time of client processes for starting and warming up their JVMs. */
  private static final Duration LOAD_OVERHEAD = Duration.ofSeconds(10);

  /**
   * One measurement of one size.
   *
   * @param batch 1 for single writes
   * @param clients 1 except for {@code load}
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
   * @param noopSeconds interval of the no-op writes of idle servers, which a mongos' stream waits
   *     for
   */
  Duration estimate(Point point, double noopSeconds) {
    // The mean delay of a mongos' stream is half of both.
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

  /** All points, in the order they run. */
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
