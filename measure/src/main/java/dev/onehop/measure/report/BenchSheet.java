package dev.onehop.measure.report;

import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.Timeline;
import dev.onehop.measure.results.ZonesResult;
import java.nio.file.Path;
import java.util.stream.Stream;

/** The sheet of {@code onehop bench}: points, rates, scenarios. */
final class BenchSheet {
  private static final String STRAIGHT =
      "Clients straight-..: the official driver sends each operation directly to the mongod of its"
          + " shard, and ignores migrations. Applications can't do this. These clients show the"
          + " highest throughput that routing can reach.";

  private BenchSheet() {}

  /**
   * Returns the sheet.
   *
   * @param folder the folder of the points' HdrHistogram logs, which may be missing
   */
  static Sheet of(Results results, Path folder) {
    Sheet sheet =
        new Sheet(
            "OneHop bench: " + results.topology().name(),
            results,
            "Every point's YCSB output and HdrHistogram logs are under points/.");
    notices(sheet, results);
    for (Timeline each : results.timelines()) {
      new ScenarioSection(each, results.entries(each.scenario()), results.machine()).addTo(sheet);
    }
    results.zones().forEach(each -> new ZonesSection(each, results.machine()).addTo(sheet));
    results.fleets().forEach(each -> new FleetSection(each).addTo(sheet));
    new RateSection(results).addTo(sheet);
    new PointSections(results, folder).addTo(sheet);
    limits(sheet, results);
    return sheet;
  }

  private static Stream<Load> loads(ZonesResult zones, Results results) {
    return zones.lines().stream().map(line -> Load.of(line, zones.rate(), results.machine()));
  }

  private static void notices(Sheet sheet, Results results) {
    sheet.notice(
        results.isDisturbed()
            ? "*: other virtual machines took more than 1 % of this machine's processor time"
                + " (steal)."
            : "");
    RunFacts run = results.run();
    long misplaced =
        run == null || run.load().placement() == null ? 0 : run.load().placement().misplaced();
    sheet.notice(
        misplaced == 0
            ? ""
            : Format.counted(misplaced, "document") + " were on a shard that does not own them.");
    boolean saturated =
        Stream.of(
                results.points().stream().map(each -> Load.of(each, results.machine())),
                results.scenarios().stream().map(each -> Load.of(each, results.machine())),
                results.zones().stream().flatMap(zones -> loads(zones, results)))
            .flatMap(each -> each)
            .anyMatch(Load::isSaturated);
    sheet.notice(saturated ? Load.NOTICE : "");
  }

  private static void limits(Sheet sheet, Results results) {
    if (results.topology().hasRouterAtClient()) {
      sheet.limit("A mongos runs on the client's host, so targeting shortens no round trip.");
    }
    int rounds =
        Stream.concat(
                results.points().stream().map(point -> point.done().rounds().size()),
                results.entries(ScenarioEntry.RATE).stream().map(each -> each.rounds().size()))
            .max(Integer::compare)
            .orElse(1);
    sheet.limit(
        rounds == 1
            ? "Everything was measured once (n = 1). On a shared machine, differences of about 10"
                + " % can be chance."
            : "Points were measured %d times (n = %d); the tables show the median round."
                .formatted(rounds, rounds));
    if (results.points().stream()
        .anyMatch(point -> point.client().mode().startsWith("straight-"))) {
      sheet.limit(STRAIGHT);
    }
  }
}
