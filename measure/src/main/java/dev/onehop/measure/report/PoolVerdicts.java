package dev.onehop.measure.report;

import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Results;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Compares routed clients with official clients of the same pool. The sentence for each pool says
 * whether routing makes a difference.
 */
final class PoolVerdicts {

  private PoolVerdicts() {}

  /**
   * Returns the sentences. There are none if routed clients were measured with only one pool. A
   * pool without an official client has no sentence.
   */
  static List<String> of(Results results) {
    List<Point> there = Comparison.atMostThreads(results);
    List<String> sentences = new ArrayList<>();
    TreeSet<Integer> pools = new TreeSet<>();
    there.stream()
        .filter(p -> p.client().isRouted() && !p.client().pipelining())
        .forEach(p -> pools.add(p.client().connections()));
    if (pools.size() > 1) {
      pools.forEach(pool -> sentence(there, pool).ifPresent(sentences::add));
    }
    return sentences;
  }

  private static Optional<String> sentence(List<Point> there, int pool) {
    List<Point> points = there.stream().filter(p -> p.client().connections() == pool).toList();
    Optional<Point> official =
        Comparison.best(points, p -> p.client().isOfficial() && p.throughput() > 0);
    Optional<Point> routed =
        Comparison.best(points, p -> p.client().isRouted() && !p.client().pipelining());
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
    Comparison.best(points, p -> p.client().isRouted() && p.client().pipelining())
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
