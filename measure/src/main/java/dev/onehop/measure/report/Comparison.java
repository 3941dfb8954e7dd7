package dev.onehop.measure.report;

import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Ratio;
import dev.onehop.measure.results.Results;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The best routed client compared with the best official client, each with its best pool, at the
 * highest number of threads.
 *
 * @param routed the routed point with the highest throughput
 * @param official the official point with the highest throughput
 * @param capped the best of the official clients with the smallest pool; null if {@code official}
 *     has this pool, too
 * @param rounds the ratio of {@code routed} to {@code official} over the rounds; null if it was not
 *     measured
 * @param why the reason why routing may have no effect here; empty if unknown
 */
record Comparison(
    Point routed, Point official, @Nullable Point capped, @Nullable Ratio rounds, String why) {

  /** Returns the comparison; empty if no routed or no official client was measured. */
  static Optional<Comparison> of(Results results) {
    List<Point> there = atMostThreads(results);
    int smallest =
        results.points().stream().mapToInt(point -> point.client().connections()).min().orElse(0);
    Optional<Point> routed = best(there, p -> p.client().isRouted());
    Optional<Point> official = best(there, p -> p.client().isOfficial() && p.throughput() > 0);
    if (routed.isEmpty() || official.isEmpty()) {
      return Optional.empty();
    }
    Point capped =
        best(there, p -> p.client().isOfficial() && p.client().connections() == smallest)
            .filter(p -> p.client().connections() < official.get().client().connections())
            .orElse(null);
    Ratio rounds =
        results.ratios().stream()
            .filter(ratio -> Integer.valueOf(official.get().threads()).equals(ratio.threads()))
            .filter(ratio -> ratio.client().equals(routed.get().client()))
            .findFirst()
            .orElse(null);
    return Optional.of(
        new Comparison(routed.get(), official.get(), capped, rounds, why(results, official.get())));
  }

  /** Returns the points at the highest number of threads. */
  static List<Point> atMostThreads(Results results) {
    int threads = results.points().stream().mapToInt(Point::threads).max().orElse(0);
    return results.points().stream().filter(point -> point.threads() == threads).toList();
  }

  /** Returns the point with the highest throughput among the selected points. */
  static Optional<Point> best(List<Point> points, Predicate<Point> which) {
    return points.stream().filter(which).max(Comparator.comparingDouble(Point::throughput));
  }

  private static String why(Results results, Point official) {
    boolean enough = official.client().connections() >= official.threads();
    return results.topology().hasRouterAtClient() && enough
        ? "a mongos is on the client's host and no thread waits for a connection"
        : enough ? "no thread waits for a connection" : "";
  }

  /** The throughput of the routed client divided by the throughput of the official client. */
  double ratio() {
    return routed.throughput() / official.throughput();
  }

  /** Adds the key figures. */
  void addFigures(Sheet sheet) {
    sheet.figure(
        Verdict.times(ratio()) + "×",
        "the throughput of the best official client",
        "%s and %s ops/s, %s and %s"
            .formatted(
                Format.rate(routed.throughput()),
                Format.rate(official.throughput()),
                routed.client().label(),
                official.client().label()));
    if (routed.latencies().mean() != null && official.latencies().mean() != null) {
      String trip = Format.ofMillis(routed.bounds().meanRoundTripMillis());
      sheet.figure(
          Format.millis(routed.latencies().mean()) + " ms",
          "mean latency",
          Format.millis(official.latencies().mean())
              + " ms by "
              + official.client().mode()
              + (trip.equals(Format.NONE) ? "" : "; round trip " + trip + " ms"));
    }
    if (routed.ofLimit() != null) {
      sheet.figure(
          Format.percent(routed.ofLimit()) + " %",
          "of the closed-loop limit (threads / mean round trip)",
          Format.percent(official.ofLimit()) + " % by " + official.client().mode());
    }
    if (routed.evidence().besideOwner() != null) {
      sheet.figure(
          Format.percent(routed.evidence().besideOwner()) + " %",
          "of operations went to a mongos near the owning shard",
          Format.percent(official.evidence().besideOwner()) + " % by " + official.client().mode());
    }
  }

  /** Returns the finding as a sentence. */
  String sentence() {
    String verdict =
        rounds == null
            ? Verdict.faster(ratio(), why)
            : Verdict.faster(ratio(), rounds.low(), rounds.high(), why);
    String capping =
        capped == null
            ? ""
            : " With %s, the official clients reached at most %s operations a second."
                .formatted(
                    Format.counted(capped.client().connections(), "connection"),
                    Format.rate(capped.throughput()));
    return "At %s, %s, is %s the best official client (%s): %s against %s operations a second.%s"
        .formatted(
            Format.counted(routed.threads(), "thread"),
            routed.client().label(),
            verdict,
            official.client().label(),
            Format.rate(routed.throughput()),
            Format.rate(official.throughput()),
            capping);
  }

  /**
   * Returns a sentence about the mean latencies of an operation; empty if one of the two clients
   * has none.
   */
  String latency(String operation) {
    LatencySummary ours = routed.latencies().byOperation().get(operation);
    LatencySummary theirs = official.latencies().byOperation().get(operation);
    return ours == null || theirs == null
        ? ""
        : "At %s, an operation by %s, takes %s ms (mean). This is %s the %s ms by %s."
            .formatted(
                Format.counted(routed.threads(), "thread"),
                routed.client().label(),
                Format.millis(ours.mean()),
                Verdict.shorter(ours.mean(), theirs.mean()),
                Format.millis(theirs.mean()),
                official.client().label());
  }

  /**
   * Returns a sentence for each pool that says whether routing makes a difference: it compares
   * routed clients with official clients of the same pool. There are none if routed clients were
   * measured with only one pool. A pool without an official client has no sentence.
   */
  static List<String> pools(Results results) {
    List<Point> there = atMostThreads(results);
    List<Integer> pools =
        there.stream()
            .filter(p -> p.client().isRouted() && !p.client().pipelining())
            .map(p -> p.client().connections())
            .distinct()
            .sorted()
            .toList();
    return pools.size() < 2
        ? List.of()
        : pools.stream().flatMap(pool -> pool(there, pool).stream()).toList();
  }

  private static Optional<String> pool(List<Point> there, int pool) {
    List<Point> points = there.stream().filter(p -> p.client().connections() == pool).toList();
    Optional<Point> official = best(points, p -> p.client().isOfficial() && p.throughput() > 0);
    Optional<Point> routed = best(points, p -> p.client().isRouted() && !p.client().pipelining());
    if (official.isEmpty() || routed.isEmpty()) {
      return Optional.empty();
    }
    int threads = routed.get().threads();
    double ratio = routed.get().throughput() / official.get().throughput();
    StringBuilder text = new StringBuilder();
    text.append(
        "With pools of %s and with %s, %s (%s ops/s) was %s %s (%s ops/s)"
            .formatted(
                Format.counted(pool, "connection"),
                Format.counted(threads, "thread"),
                routed.get().client().mode(),
                Format.rate(routed.get().throughput()),
                Verdict.faster(ratio, ""),
                official.get().client().mode(),
                Format.rate(official.get().throughput())));
    best(points, p -> p.client().isRouted() && p.client().pipelining())
        .ifPresent(
            p ->
                text.append(
                    "; with pipelining over the same number of sockets, %s (%s ops/s) was %s %s"
                        .formatted(
                            p.client().mode(),
                            Format.rate(p.throughput()),
                            Verdict.faster(p.throughput() / official.get().throughput(), ""),
                            official.get().client().mode())));
    text.append('.');
    if (!Verdict.isFaster(ratio) && pool >= threads) {
      text.append(
          " Each thread has a connection, so no operation waits for a connection. In this case,"
              + " routing saves no time if all shards are healthy and a mongos is near the"
              + " application. But a failing shard does not delay operations on other shards, and"
              + " with pipelining, routing needs fewer sockets.");
    }
    return Optional.of(text.toString());
  }
}
