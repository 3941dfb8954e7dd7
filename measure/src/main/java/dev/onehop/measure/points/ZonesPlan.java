package dev.onehop.measure.points;

import java.util.ArrayList;
import java.util.List;

/**
 * What the scenario {@code zones} compares.
 *
 * @param zones where the application runs, one after the other
 */
public record ZonesPlan(List<String> zones) {

  /** Copies the list. */
  public ZonesPlan {
    zones = List.copyOf(zones);
  }

  /**
   * One client at one kind of operations.
   *
   * @param zone where the application runs
   * @param reads whether all are reads of any member; else half reads, half updates of primaries
   * @param point its mode and pool
   * @param variant how it is configured, for a person
   * @param preferred whether it is configured with the zone to prefer
   * @param options of the URL, empty or beginning with an ampersand
   */
  record Way(
      String zone,
      boolean reads,
      PointPlan point,
      String variant,
      boolean preferred,
      String options) {

    String title() {
      return "%s, %s, %s in %s"
          .formatted(reads ? "reads" : "reads and updates", point.mode(), variant, zone);
    }

    /** Its folder under the results folder. */
    String folder() {
      return "points/zones-%s-%s-%s-%s"
          .formatted(
              zone, reads ? "reads" : "primaries", point.mode(), variant.replaceAll("\\W+", "-"));
    }
  }

  /** Every mode as it is and as it spares distances best, at both kinds of operations. */
  List<Way> ways(List<Mode> modes) {
    List<Way> ways = new ArrayList<>();
    for (String zone : zones) {
      for (boolean reads : new boolean[] {true, false}) {
        String nearest = reads ? "&readPreference=nearest" : "";
        for (Mode mode : modes) {
          PointPlan point = new PointPlan(mode, BenchPlan.LARGE_POOL, BenchPlan.LARGE_POOL, false);
          if (mode.throughOneRouter()) {
            ways.add(new Way(zone, reads, point, "defaults", false, nearest));
            ways.add(
                new Way(
                    zone,
                    reads,
                    point,
                    "localThresholdMS=0",
                    false,
                    nearest + "&localThresholdMS=0"));
          } else {
            ways.add(new Way(zone, reads, point, "no zones", false, nearest));
            ways.add(new Way(zone, reads, point, "preferred zones", true, nearest));
          }
        }
      }
    }
    return ways;
  }
}
