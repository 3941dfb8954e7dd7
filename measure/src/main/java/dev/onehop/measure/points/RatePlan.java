package dev.onehop.measure.points;

import java.util.List;

/**
 * Operations that are to be issued at fixed rates, while nothing happens to the cluster.
 *
 * @param rates operations per second, ascending
 * @param poisson whether intended times are spread as of many independent users, and not evenly
 */
public record RatePlan(List<Double> rates, boolean poisson) {

  /** The list can't be changed. */
  public RatePlan {
    rates = List.copyOf(rates);
  }
}
