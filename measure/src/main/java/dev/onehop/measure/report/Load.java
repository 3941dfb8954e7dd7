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
 * @param busy the fraction of the processors' time that the measured processes used; 0 if unknown
 */
record Load(double busy) {

  /** The load above which latencies measure the machine more than the client. */
  static final double SATURATED = 0.85;

  /** The explanation of the mark {@code saturated} in a report. */
  static final String NOTICE =
      "saturated: the machine's processors were over 85 % busy. Latencies in lines with this mark"
          + " depend more on the machine's load than on the client.";

  private static final String CAVEAT =
      " The machine was saturated, so these latencies depend more on its load than on the client.";

  /** Returns the load of a point. */
  static Load of(Point point, @Nullable MachineFacts machine) {
    return of(point.cpu(), point.throughput(), machine);
  }

  /**
   * Returns the load of operations at a rate. If an entry has the operations on some shards only,
   * the operations on the other shards count, too.
   */
  static Load of(ScenarioEntry entry, @Nullable MachineFacts machine) {
    boolean all = entry.shards().equals(ScenarioEntry.ALL);
    return of(entry.cpu(), all ? entry.figures().perSecond() : entry.rate(), machine);
  }

  /** Returns the load of a client in a measurement of the bytes across zones. */
  static Load of(ZonesResult.Line line, double perSecond, @Nullable MachineFacts machine) {
    return of(line.cpu(), perSecond, machine);
  }

  private static Load of(
      @Nullable CpuPerOperation cpu, double perSecond, @Nullable MachineFacts machine) {
    Double micros = cpu == null ? null : cpu.total();
    return cores(micros == null ? 0 : micros * perSecond / 1e6, machine);
  }

  /** Returns the load of a number of busy processors. */
  static Load cores(double used, @Nullable MachineFacts machine) {
    return new Load(machine == null || machine.cores() == 0 ? 0 : used / machine.cores());
  }

  /**
   * Returns a sentence about latencies at these loads. It has a caveat if the machine was saturated
   * at one of the loads.
   */
  static String qualified(String sentence, Stream<Load> loads) {
    return loads.anyMatch(Load::isSaturated) ? sentence + CAVEAT : sentence;
  }

  boolean isSaturated() {
    return busy > SATURATED;
  }

  /** Returns the mark after the name of a line; empty if the machine was not saturated. */
  String mark() {
    return isSaturated() ? ", saturated" : "";
  }
}
