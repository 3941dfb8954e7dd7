package dev.onehop.routing.transport;

import dev.onehop.wire.connection.SharingMeters;

/** The Micrometer meters of pipelining, by name. All have the tag {@code server}. */
public enum PipeliningMeters {
  /**
   * Gauge: open sockets. Tag {@code use}: {@code shared} for sockets that short requests share;
   * {@code own} for sockets with one request at a time. The value {@code own} includes idle sockets
   * and sockets that are being opened.
   */
  SOCKETS(SharingMeters.SOCKETS),
  /**
   * Gauge: unanswered requests on one shared socket. Tag {@code socket}: the number of the socket,
   * from 0.
   */
  IN_FLIGHT(SharingMeters.IN_FLIGHT),
  /** Timer: the wait of requests for a free slot on a shared socket. */
  QUEUE_WAIT(SharingMeters.QUEUE_WAIT),
  /** Counter: requests. Tag {@code use}: {@code shared} or {@code own}. */
  REQUESTS(SharingMeters.REQUESTS),
  /** Counter: replies that arrived after their operation was cancelled. */
  LATE_REPLIES(SharingMeters.LATE_REPLIES),
  /** Counter: times that a shared socket was not used because its oldest request was slow. */
  SLOW_HEADS(SharingMeters.SLOW_HEADS),
  /**
   * Counter: sockets that broke, that could not be opened, or that OneHop closed because all their
   * requests were cancelled.
   */
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
