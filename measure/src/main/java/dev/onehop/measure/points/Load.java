package dev.onehop.measure.points;

import dev.onehop.measure.report.Format;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** The operations of a client during a measurement. Implementations are immutable. */
sealed interface Load permits ClosedLoop, OpenLoop {

  /** The time that a client's process needs to start its JVM, to connect and to clean up. */
  Duration OVERHEAD = Duration.ofMillis(2500);

  /** The unmeasured operations before the measurement. */
  Warmup warmup();

  /** The folder of a cell's logs, relative to the results' folder and without the round. */
  default String folder(PointCell cell) {
    return cell.folder("t" + cell.threads());
  }

  /** The title of a cell, without the round, such as {@code async, 64 threads, 5 connections}. */
  default String title(PointCell cell) {
    return cell.title(Format.counted(cell.threads(), "thread"));
  }

  /**
   * The expected time of a cell.
   *
   * @param meanRoundTripMillis the mean round trip from the client to the shards
   */
  Duration estimate(PointCell cell, double meanRoundTripMillis);

  /**
   * Measures a cell.
   *
   * @return the results of the cell, each a part of {@code results.json}
   * @throws dev.onehop.resync.Failure if the measurement fails
   */
  List<Record> measure(PointCell cell, YcsbClients clients)
      throws IOException, InterruptedException;
}
