package dev.onehop.measure.delivery;

import java.time.Instant;

/** The machine's clock, the same for all processes on it. */
final class Clock {

  private Clock() {}

  /** Now, in microseconds since 1970. */
  static long micros() {
    Instant now = Instant.now();
    return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
  }
}
