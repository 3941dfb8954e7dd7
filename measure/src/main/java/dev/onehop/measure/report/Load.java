package dev.onehop.measure.report;

import dev.onehop.measure.results.CpuPerOperation;
import dev.onehop.measure.results.MachineFacts;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.ZonesResult;
import org.jspecify.annotations.Nullable;

/**
 * How busy the machine's processors were while something was measured.
 *
 * @param busy the fraction of their time that the measured processes used; 0 where that is not
 *     known
 */
record Load(double busy) {

  /** Above it, latencies tell of the machine more than of what is measured. */
  static final double SATURATED = 0.85;

  /** What a report says if anything is marked. */
  static final String NOTICE =
      "saturated: the machine's processors were over 85 % busy. These are latencies of a saturated"
          + " machine: they say little of the client.";

  /** Of a point. */
  static Load of(Point point, @Nullable MachineFacts machine) {
    return of(point.cpu(), point.throughput(), machine);
  }

  /** Of operations at a rate; those on some of the shards are measured with all others. */
  static Load of(ScenarioEntry entry, @Nullable MachineFacts machine) {
    boolean all = entry.shards().equals(ScenarioEntry.ALL);
    return of(entry.cpu(), all ? entry.figures().perSecond() : entry.rate(), machine);
  }

  /** Of a client whose bytes across zones were counted. */
  static Load of(ZonesResult.Line line, double perSecond, @Nullable MachineFacts machine) {
    return of(line.cpu(), perSecond, machine);
  }

  private static Load of(
      @Nullable CpuPerOperation cpu, double perSecond, @Nullable MachineFacts machine) {
    Double micros = cpu == null ? null : cpu.total();
    return cores(micros == null ? 0 : micros * perSecond / 1e6, machine);
  }

  /** Of so many processors that were kept busy. */
  static Load cores(double used, @Nullable MachineFacts machine) {
    return new Load(machine == null || machine.cores() == 0 ? 0 : used / machine.cores());
  }

  boolean isSaturated() {
    return busy > SATURATED;
  }

  /** What follows the name of what was measured. */
  String mark() {
    return isSaturated() ? ", saturated" : "";
  }
}
