package dev.onehop.measure.points;

import java.io.IOException;
import java.time.Duration;

/** What a client does while it is measured. Implementations are immutable. */
sealed interface Load permits ClosedLoop, FixedRate, Fault, ZoneTraffic, Fleet {

  /** JVM start, connecting and clean-up of a client's process. */
  Duration OVERHEAD = Duration.ofMillis(2500);

  /** The unmeasured operations before. */
  Warmup warmup();

  /** Where a cell's logs are, relative to the results' folder; without the round. */
  String folder(PointCell cell);

  /** A cell for a person, without pipelining and round, such as {@code async, 64 threads}. */
  String title(PointCell cell);

  /**
   * How long a cell is expected to take.
   *
   * @param meanRoundTripMillis from the client to the shards
   */
  Duration estimate(PointCell cell, double meanRoundTripMillis);

  /**
   * Measures a cell.
   *
   * @throws dev.onehop.resync.Failure if it can't be measured
   */
  Finding measure(PointCell cell, YcsbClients clients) throws IOException, InterruptedException;
}
