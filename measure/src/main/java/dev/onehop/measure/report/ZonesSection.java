package dev.onehop.measure.report;

import dev.onehop.measure.results.Client;
import dev.onehop.measure.results.MachineFacts;
import dev.onehop.measure.results.ZonesResult;
import dev.onehop.measure.results.ZonesResult.Crossed;
import dev.onehop.measure.results.ZonesResult.Line;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** The section about the bytes across zones: sentences and figures. */
record ZonesSection(ZonesResult result, @Nullable MachineFacts machine) {

  void addTo(Sheet sheet) {
    if (result.lines().isEmpty()) {
      sheet.say("No client was finished.");
    }
    compare(sheet, true);
    compare(sheet, false);
    best(false, line -> line.mode().startsWith("direct"))
        .ifPresent(
            line ->
                sheet.say(
                    ("In direct mode, an operation on a primary needs %s bytes across zones: only"
                            + " its request and its reply pass between the zones of client and"
                            + " primary. Replication and metadata take %s more bytes per"
                            + " operation.")
                        .formatted(
                            bytes(line.crossed().clientAndShard()),
                            bytes(line.crossed().background()))));
    sheet.add(
        new Section("zones", "Scenario zones")
            .say(
                "%s operations a second, counted for %s seconds. Every client can use every mongos."
                    .formatted(Format.rate(result.rate()), Format.rate(result.seconds())))
            .table(table("Reads of any member (nearest)", true))
            .table(table("Half reads, half updates, of primaries", false)));
  }

  private Optional<Line> best(boolean reads, Predicate<Line> which) {
    return result.lines().stream()
        .filter(line -> line.reads() == reads)
        .filter(which)
        .min(Comparator.comparingDouble(line -> line.crossed().ofOperations()));
  }

  /** Compares the best official client with the best routed client. */
  private void compare(Sheet sheet, boolean reads) {
    Optional<Line> official = best(reads, line -> Client.isOfficial(line.mode()));
    Optional<Line> routed = best(reads, line -> !Client.isOfficial(line.mode()));
    if (official.isEmpty() || routed.isEmpty()) {
      return;
    }
    double before = official.get().crossed().ofOperations();
    double after = routed.get().crossed().ofOperations();
    String ratio = before > 0 ? Format.thousandths(after / before) : Format.NONE;
    sheet.say(
        "%s took %s bytes across zones with %s, and %s bytes with %s: %s times as much%s."
            .formatted(
                reads ? "A read of any member" : "An operation on a primary",
                bytes(before),
                name(official.get()),
                bytes(after),
                name(routed.get()),
                ratio,
                after > before * 0.9 ? " (nothing is saved)" : ""));
    sheet.figure(
        bytes(after) + " B",
        "across zones per " + (reads ? "read of any member" : "operation on a primary"),
        bytes(before) + " B by " + name(official.get()));
  }

  private static String name(Line line) {
    return line.mode() + " (" + line.variant() + ")";
  }

  private static String bytes(Number bytes) {
    return Format.rate(bytes);
  }

  private Table table(String caption, boolean reads) {
    return Table.of(
        caption,
        result.lines().stream().filter(line -> line.reads() == reads).toList(),
        List.of(
            Column.text(
                "client", line -> line.mode() + Load.of(line, result.rate(), machine).mark()),
            Column.text("configured", Line::variant),
            Column.text("zone", Line::zone),
            crossed("crossed B/op", Crossed::ofOperations)
                .means(
                    "bytes of TCP payload between zones per operation, both directions together:"
                        + " between application and servers, and between mongoses and shards."
                        + " Heartbeats are included"),
            crossed("client-mongos", Crossed::clientAndRouter),
            crossed("client-shard", Crossed::clientAndShard),
            crossed("mongos-shard", Crossed::routerAndShard),
            crossed("background", Crossed::background)
                .means("all other bytes between zones per operation: replication and metadata"),
            Column.of("p50 ms", Format::millis, line -> line.latency().p50()),
            Column.of("p99 ms", Format::millis, line -> line.latency().p99()),
            Column.of("failed", Format::whole, Line::failed)));
  }

  private static Column<Line> crossed(String name, ToDoubleFunction<Crossed> bytes) {
    return Column.of(name, ZonesSection::bytes, line -> bytes.applyAsDouble(line.crossed()));
  }
}
