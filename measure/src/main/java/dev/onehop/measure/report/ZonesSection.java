package dev.onehop.measure.report;

import dev.onehop.measure.results.Client;
import dev.onehop.measure.results.MachineFacts;
import dev.onehop.measure.results.ZonesResult;
import dev.onehop.measure.results.ZonesResult.Line;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.Predicate;
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
                            Format.rate(line.crossed().clientAndShard()),
                            Format.rate(line.crossed().background()))));
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
                Format.rate(before),
                name(official.get()),
                Format.rate(after),
                name(routed.get()),
                ratio,
                after > before * 0.9 ? " (nothing is saved)" : ""));
    sheet.figure(
        Format.rate(after) + " B",
        "across zones per " + (reads ? "read of any member" : "operation on a primary"),
        Format.rate(before) + " B by " + name(official.get()));
  }

  private static String name(Line line) {
    return line.mode() + " (" + line.variant() + ")";
  }

  private Columns<Line> table(String caption, boolean reads) {
    return new Columns<>(
            caption, result.lines().stream().filter(line -> line.reads() == reads).toList())
        .text("client", line -> line.mode() + Load.of(line, result.rate(), machine).mark())
        .text("configured", Line::variant)
        .text("zone", Line::zone)
        .of("crossed B/op", Format::rate, line -> line.crossed().ofOperations())
        .means(
            "bytes of TCP payload between zones per operation, both directions together: between"
                + " application and servers, and between mongoses and shards. Heartbeats are"
                + " included")
        .of("client-mongos", Format::rate, line -> line.crossed().clientAndRouter())
        .of("client-shard", Format::rate, line -> line.crossed().clientAndShard())
        .of("mongos-shard", Format::rate, line -> line.crossed().routerAndShard())
        .of("background", Format::rate, line -> line.crossed().background())
        .means("all other bytes between zones per operation: replication and metadata")
        .of("p50 ms", Format::millis, line -> line.latency().p50())
        .of("p99 ms", Format::millis, line -> line.latency().p99())
        .of("failed", Format::whole, Line::failed);
  }
}
