package dev.onehop.routing.internal.metrics;

import java.util.Locale;

/** How an operation ended. */
public enum Outcome {
  OK,
  FAILED,
  CANCELLED;

  private final String tag = name().toLowerCase(Locale.ROOT);

  String tag() {
    return tag;
  }
}
