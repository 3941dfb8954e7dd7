package dev.onehop.measure.points;

import dev.onehop.measure.results.ShardLatencies;
import java.nio.file.Path;
import java.time.Duration;

/** Operations at intended times. Implementations are immutable. */
sealed interface OpenLoop extends Load permits FixedRate, Fault, ZoneTraffic, Fleet {

  /** The intended times. */
  Arrivals arrivals();

  /**
   * The expected time of a cell, including the start of the client and the wait for replies at the
   * end.
   */
  @Override
  default Duration estimate(PointCell cell, double meanRoundTripMillis) {
    return warmup().most().plus(arrivals().duration()).plusSeconds(5);
  }

  /** Reads the latencies of a client that has ended, from its folder. */
  default ShardLatencies latencies(Path folder) {
    return ShardLatencies.read(YcsbArguments.latencies(folder), arrivals().seconds());
  }
}
