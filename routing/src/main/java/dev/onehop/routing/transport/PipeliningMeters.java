package dev.onehop.routing.transport;

import dev.onehop.wire.connection.SharingMeters;

/** The Micrometer meters of pipelining, by name. All bear the tag {@code server}. */
public enum PipeliningMeters {
  /**
   * Gauge: open sockets. Tag {@code use}: {@code shared} (by short requests), {@code own} (of one
   * request at a time, idle ones and those that are being opened included).
   */
  SOCKETS(SharingMeters.SOCKETS),
  /** Gauge: unanswered requests of one shared socket. Tag {@code socket}: its number from 0. */
  IN_FLIGHT(SharingMeters.IN_FLIGHT),
  /** Timer: how long requests waited for a shared socket that could take them. */
  QUEUE_WAIT(SharingMeters.QUEUE_WAIT),
  /** Counter: requests. Tag {@code use}: {@code shared}, {@code own}. */
  REQUESTS(SharingMeters.REQUESTS),
  /** Counter: replies that came when their operation was cancelled. */
  LATE_REPLIES(SharingMeters.LATE_REPLIES),
  /** Counter: times that a shared socket was passed over because its oldest request was slow. */
  SLOW_HEADS(SharingMeters.SLOW_HEADS),
  /** Counter: sockets that broke, or were given up. */
  FAILURES(SharingMeters.FAILURES);

  private final String meterName;

  PipeliningMeters(String meterName) {
    this.meterName = meterName;
  }

  /** The name under which the meter is registered. */
  public String meterName() {
    return meterName;
  }
}
