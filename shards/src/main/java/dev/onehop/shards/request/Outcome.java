package dev.onehop.shards.request;

import java.util.Locale;

/** The outcome of an operation. */
public enum Outcome {
  OK,
  FAILED,
  CANCELLED;

  private final String tag = name().toLowerCase(Locale.ROOT);

  public String tag() {
    return tag;
  }
}
