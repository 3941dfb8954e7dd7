package dev.onehop.shards.cluster;

import reactor.core.Exceptions;

/**
 * Selects one of several failures. A failure that is not a refusal comes first. If all are
 * refusals, one of them is enough to cause a refresh.
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
