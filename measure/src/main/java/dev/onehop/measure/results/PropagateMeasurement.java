package dev.onehop.measure.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One measurement of {@code onehop propagate} by one path.
 *
 * @param name the name of the measurement, such as {@code client-to-client}
 * @param path {@code mongos}, {@code shards}, {@code ordered}, or {@link #MAJORITY}
 * @param clients the number of clients at once; 1 except for {@link #LOAD}
 * @param processes the number of the clients' processes
 * @param documents the number of objects of a test, or of a query
 * @param batch the number of objects of a write
 * @param bytes the size of an object in bytes
 * @param runs the number of tests that count, for each client
 * @param latency the time of each object from the intended time of its write to its arrival, in
 *     microseconds. For {@code bootstrap} and {@code initial-sync}: the time of each run until its
 *     subscription was live
 * @param service the time of each object from the start of its write to its arrival, in
 *     microseconds; null if no writes are timed
 * @param test the time of each test from its start until its last signal, in microseconds. For
 *     {@link #LOAD}: the time of each client until its subscription was live. Null if {@code
 *     latency} has this time
 * @param snapshot the time of each run until all documents were delivered, in microseconds; null if
 *     no snapshot is read
 * @param lost the number of acknowledged objects and signals that did not arrive
 * @param doubled the number of objects and signals that arrived more than once
 * @param clockErrorMicros the possible error from two clocks: 0, because one clock times write and
 *     arrival. Files of earlier versions have another value, because those versions measured
 *     between two machines
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

  /**
   * The {@link #path} without a change stream: instead, another program reads the documents with
   * read concern majority.
   */
  public static final String MAJORITY = "majority";

  /** The {@link #name} of the measurement with many clients. */
  public static final String LOAD = "load";

  /**
   * Returns the name and all sizes. They are equal for measurements that differ only in their path.
   */
  List<Object> measured() {
    return List.of(name, clients, processes, documents, batch, bytes);
  }

  /** The number of objects and signals that were lost or arrived more than once. */
  public long faults() {
    return lost + doubled;
  }
}
