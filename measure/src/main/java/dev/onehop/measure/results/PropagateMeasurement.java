package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One measurement of {@code onehop propagate} by one path.
 *
 * @param name such as {@code client-to-client}
 * @param path {@code mongos}, {@code shards}, {@code ordered}, or {@link #MAJORITY}
 * @param clients how many clients there were at once; 1 but under load
 * @param processes how many processes they were in
 * @param documents objects of a test, or of a query
 * @param batch objects of a write
 * @param bytes of an object
 * @param runs how many tests were timed, for each client
 * @param latency of each object, from when its write was meant to begin to when it was seen; of
 *     {@code bootstrap} and {@code initial-sync} of each run, until it was live; in microseconds
 * @param service the same from when the write began; null where no writes are timed
 * @param test of each test, from its begin until all of its signals were seen; under load of each
 *     client, until it was live; null where {@code latency} is that
 * @param snapshot of each run, until all documents were handed over; null where none are read
 * @param lost objects and signals that were acknowledged and not seen
 * @param doubled those that were seen again
 * @param clockErrorMicros 0: one clock times both ends. Files of versions that measured over two
 *     machines have more
 * @param folder where the HdrHistogram logs are, in the results' folder
 */
@JsonInclude(Include.NON_NULL)
public record PropagateMeasurement(
    String name,
    String path,
    int clients,
    int processes,
    int documents,
    int batch,
    int bytes,
    int runs,
    LatencySummary latency,
    @Nullable LatencySummary service,
    @Nullable LatencySummary test,
    @Nullable LatencySummary snapshot,
    long lost,
    long doubled,
    long clockErrorMicros,
    String folder) {

  /** The path of what is not seen by a stream, but read with read concern majority. */
  public static final String MAJORITY = "majority";

  /** The name of what is measured by the number of clients. */
  public static final String LOAD = "load";

  /** What is measured by several paths at once: the name with all sizes. */
  List<Object> measured() {
    return List.of(name, clients, processes, documents, batch, bytes);
  }

  /** Objects that did not come once. */
  public long faults() {
    return lost + doubled;
  }
}
