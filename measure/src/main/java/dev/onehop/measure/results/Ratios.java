package dev.onehop.measure.results;

import dev.onehop.measure.results.Ratio.Claim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Compares every client with the best official client, whose pool may have another size. At the
 * same number of threads, the best client has the highest throughput. At the same rate, it has the
 * lowest 99th percentile.
 */
public final class Ratios {

  /** The least number of rounds for an interval. */
  public static final int LEAST_ROUNDS = 5;

  private Ratios() {}

  /**
   * Returns all ratios that can be computed from the points and scenarios.
   *
   * @param seed the seed of the resamples for intervals
   */
  public static List<Ratio> of(List<Point> points, List<ScenarioEntry> scenarios, long seed) {
    List<Ratio> ratios = new ArrayList<>();
    points.stream()
        .collect(grouping(Point::threads, Figures::of))
        .forEach((threads, figures) -> ratios.addAll(of(figures, threads, null, seed)));
    scenarios.stream()
        .filter(each -> each.scenario().equals(ScenarioEntry.RATE))
        .collect(grouping(ScenarioEntry::rate, Figures::of))
        .forEach((rate, figures) -> ratios.addAll(of(figures, null, rate, seed)));
    return ratios;
  }

  /** A client's figure for the comparison: of the whole measurement, and of each round. */
  private record Figures(Client client, double figure, List<Double> rounds) {
    static Figures of(Point point) {
      return new Figures(point.client(), point.throughput(), point.done().rounds());
    }

    static Figures of(ScenarioEntry entry) {
      return new Figures(
          entry.client(),
          entry.figures().latency().p99(),
          entry.rounds().stream().map(round -> (double) round.p99()).toList());
    }
  }

  /** Groups the figures of measurements at the same number of threads or rate, ascending. */
  private static <T, K> Collector<T, ?, Map<K, List<Figures>>> grouping(
      Function<T, K> by, Function<T, Figures> figures) {
    return Collectors.groupingBy(
        by, TreeMap::new, Collectors.mapping(figures, Collectors.toList()));
  }

  private static List<Ratio> of(
      List<Figures> figures, @Nullable Integer threads, @Nullable Double rate, long seed) {
    Comparator<Figures> byFigure = Comparator.comparingDouble(Figures::figure);
    Optional<Figures> best =
        figures.stream()
            .filter(each -> each.client().isOfficial() && each.figure() > 0)
            .max(rate == null ? byFigure : byFigure.reversed());
    if (best.isEmpty()) {
      return List.of();
    }
    List<Ratio> ratios = new ArrayList<>();
    for (Figures each : figures) {
      int rounds = Math.min(each.rounds().size(), best.get().rounds().size());
      List<Double> ours = each.rounds().subList(0, rounds);
      List<Double> theirs = best.get().rounds().subList(0, rounds);
      if (!each.equals(best.get())) {
        Bootstrap.ofPairs(ours, theirs, seed)
            .map(
                found ->
                    new Ratio(
                        rate == null ? Ratio.THROUGHPUT : Ratio.P99,
                        each.client(),
                        best.get().client(),
                        threads,
                        rate,
                        found.ratio(),
                        found.low(),
                        found.high(),
                        rounds,
                        claim(found)))
            .ifPresent(ratios::add);
      }
    }
    return ratios;
  }

  private static Claim claim(Bootstrap found) {
    if (found.low() == null || found.high() == null) {
      return Claim.TOO_FEW_ROUNDS;
    }
    return found.low() > 1
        ? Claim.HIGHER
        : found.high() < 1 ? Claim.LOWER : Claim.NO_DIFFERENCE_SHOWN;
  }
}
