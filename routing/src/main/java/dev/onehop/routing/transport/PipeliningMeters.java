package dev.onehop.routing.transport;

/** The Micrometer meters of pipelining, by name. All bear the tag {@code server}. */
public enum PipeliningMeters {
  /**
   * Gauge: open sockets. Tag {@code use}: {@code shared} (by short requests), {@code own} (of one
   * request at a time, idle ones and those that are being opened included).
   */
  SOCKETS("onehop.pipeline.sockets"),
  /** Gauge: unanswered requests of one shared socket. Tag {@code socket}: its number from 0. */
  IN_FLIGHT("onehop.pipeline.in.flight"),
  /** Timer: how long requests waited for a shared socket that could take them. */
  QUEUE_WAIT("onehop.pipeline.queue.wait"),
  /** Counter: requests. Tag {@code use}: {@code shared}, {@code own}. */
  REQUESTS("onehop.pipeline.requests"),
  /** Counter: replies that came when their operation was cancelled. */
  LATE_REPLIES("onehop.pipeline.replies.late"),
  /** Counter: times that a shared socket was passed over because its oldest request was slow. */
  SLOW_HEADS("onehop.pipeline.heads.slow"),
  /** Counter: sockets that broke, or were given up. */
  FAILURES("onehop.pipeline.failures");

  private final String meterName;

  PipeliningMeters(String meterName) {
    this.meterName = meterName;
  }

  /** The name under which the meter is registered. */
  public String meterName() {
    return meterName;
  }
}
