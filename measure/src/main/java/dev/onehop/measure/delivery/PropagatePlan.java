package dev.onehop.measure.delivery;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a run is to measure. Immutable.
 *
 * @param measurements in the order they run
 * @param tests how many tests of each are timed
 * @param documents objects of a test, or of a query; a measurement for each
 * @param batches objects of a write; a measurement for each
 * @param bytes of an object; a measurement for each
 * @param rate writes per second; null for one after the other
 * @param await how long servers may wait for events before they answer without any
 * @param total whether the ordered path has one order of all events
 * @param clients of {@code load}; a measurement for each
 * @param processes how many processes they are in, at most
 * @param clientRate writes per second of each of these
 * @param duration how long they write once all of them are live
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

  /** Copies of the lists. */
  public PropagatePlan {
    measurements = List.copyOf(measurements);
    documents = List.copyOf(documents);
    batches = List.copyOf(batches);
    bytes = List.copyOf(bytes);
    clients = List.copyOf(clients);
  }

  /**
   * One measurement of one size.
   *
   * @param batch 1 where writes are single
   * @param clients 1 but under load
   */
  record Point(Measurement measurement, int documents, int batch, int bytes, int clients) {

    /** For a person. */
    String title() {
      String size = "%s, %,d objects".formatted(measurement.label(), documents);
      if (measurement.isPropagation()) {
        size += ", %,d per write".formatted(batch);
      }
      return measurement == Measurement.LOAD ? size + ", %d clients".formatted(clients) : size;
    }

    /** For a folder. */
    String folder() {
      return "%s-%d-%d-%d-%d".formatted(measurement.label(), documents, batch, bytes, clients);
    }
  }

  /** All of them, in the order they run. */
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
