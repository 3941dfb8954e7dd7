package dev.onehop.measure.bench;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Operations that are to be issued at fixed rates, while nothing happens to the cluster.
 *
 * @param rates operations per second, ascending; with a criterion the one to begin with
 * @param poisson whether intended times are spread as of many independent users, and not evenly
 * @param findMax what has to hold of the highest rate that is searched; null if none is
 */
public record RatePlan(List<Double> rates, boolean poisson, @Nullable Criterion findMax) {

  /** The list can't be changed. */
  public RatePlan {
    rates = List.copyOf(rates);
  }
}
