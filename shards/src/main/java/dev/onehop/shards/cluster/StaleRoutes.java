package dev.onehop.shards.cluster;

import reactor.core.Exceptions;

/**
 * Selects one of several failures. A failure other than {@link StaleRoute} has precedence. If all
 * are of this type, one of them is enough to cause a refresh.
 */
public final class StaleRoutes {
  private StaleRoutes() {}

  public static Throwable single(Throwable failure) {
    if (!Exceptions.isMultiple(failure)) {
      return failure;
    }
    Throwable first = failure;
    for (Throwable each : Exceptions.unwrapMultiple(failure)) {
      if (!(each instanceof StaleRoute)) {
        return each;
      }
      first = each;
    }
    return first;
  }
}
