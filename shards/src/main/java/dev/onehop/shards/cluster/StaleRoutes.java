package dev.onehop.shards.cluster;

import reactor.core.Exceptions;

/** Several shards may refuse at once; one refusal is enough to refresh, other failures win. */
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
