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
 * @param clients the number of clients at once; 1 except for {@link #LOAD}
 * @param processes the number of their processes
 * @param documents the number of objects of a test, or of a query
 * @param batch the number of objects of a write
 * @param bytes the size of an object
 * @param runs the number of timed tests, for each client
 * @param latency of each object, from the intended time of its write to its arrival; {@code
 *     bootstrap} and {@code initial-sync}: of each run, until it was live; in microseconds
 * @param service the same from when the write began; null if no writes are timed
 * @param test of each test, from its start until its last signal; {@link #LOAD}: of each client,
 *     until it was live; null if {@code latency} has this time
 * @param snapshot of each run, until all documents were delivered; null if no snapshot is read
 * @param lost acknowledged objects and signals that did not arrive
 * @param doubled objects and signals that arrived again
 * @param clockErrorMicros 0, because one clock times both ends; more in files of versions that
 *     measured over two machines
 * @param folder the folder of the HdrHistogram logs, in the results' folder
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

  /** The path without a stream: reads with read concern majority. */
  public static final String MAJORITY = "majority";

  /** The name of the measurement by number of clients. */
  public static final String LOAD = "load";

  /** The key of a measurement by several paths: its name with all sizes. */
  List<Object> measured() {
    return List.of(name, clients, processes, documents, batch, bytes);
  }

  /** The number of objects that were lost or arrived again. */
  public long faults() {
    return lost + doubled;
  }
}
