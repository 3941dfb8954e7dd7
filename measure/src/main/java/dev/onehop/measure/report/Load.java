package dev.onehop.measure.report;

import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.measure.results.MachineFacts;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.ZonesResult;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The load of the machine's processors during a measurement.
 *
 * @param busy the fraction of their time that the measured processes used; 0 if unknown
 */
record Load(double busy) {

  /** Above this load, latencies measure the machine more than the client. */
  static final double SATURATED = 0.85;

  /** The notice of a report with marked lines. */
  static final String NOTICE =
      "saturated: the machine's processors were over 85 % busy. These are latencies of a saturated"
          + " machine: they mean little for the client.";

  private static final String CAVEAT =
      " These are latencies of a saturated machine: they say little of the client.";

  /** The load of a point. */
  static Load of(Point point, @Nullable MachineFacts machine) {
    return of(point.cpu(), point.throughput(), machine);
  }

  /**
   * The load of operations at a rate. Operations on some of the shards are measured together with
   * all others.
   */
  static Load of(ScenarioEntry entry, @Nullable MachineFacts machine) {
    boolean all = entry.shards().equals(ScenarioEntry.ALL);
    return of(entry.cpu(), all ? entry.figures().perSecond() : entry.rate(), machine);
  }

  /** The load of a client whose bytes across zones were counted. */
  static Load of(ZonesResult.Line line, double perSecond, @Nullable MachineFacts machine) {
    return of(line.cpu(), perSecond, machine);
  }

  private static Load of(
      @Nullable CpuPerOperation cpu, double perSecond, @Nullable MachineFacts machine) {
    Double micros = cpu == null ? null : cpu.total();
    return cores(micros == null ? 0 : micros * perSecond / 1e6, machine);
  }

  /** The load of a number of busy processors. */
  static Load cores(double used, @Nullable MachineFacts machine) {
    return new Load(machine == null || machine.cores() == 0 ? 0 : used / machine.cores());
  }

  /** A sentence on latencies at these loads, with a caveat if one machine was saturated. */
  static String qualified(String sentence, Stream<Load> loads) {
    return loads.anyMatch(Load::isSaturated) ? sentence + CAVEAT : sentence;
  }

  boolean isSaturated() {
    return busy > SATURATED;
  }

  /** The text after a marked name. */
  String mark() {
    return isSaturated() ? ", saturated" : "";
  }
}
