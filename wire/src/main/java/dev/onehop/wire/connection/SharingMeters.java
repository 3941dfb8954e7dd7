package dev.onehop.wire.connection;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntSupplier;

/**
 * The meters of one server with shared connections.
 *
 * <p>Thread-safe.
 */
public final class SharingMeters {
  public static final String SOCKETS = "onehop.pipeline.sockets";
  public static final String IN_FLIGHT = "onehop.pipeline.in.flight";
  public static final String QUEUE_WAIT = "onehop.pipeline.queue.wait";
  public static final String REQUESTS = "onehop.pipeline.requests";
  public static final String LATE_REPLIES = "onehop.pipeline.replies.late";
  public static final String SLOW_HEADS = "onehop.pipeline.heads.slow";
  public static final String FAILURES = "onehop.pipeline.failures";

  /**
   * The meters have a gauge of the requests in flight for each connection with a number below this.
   */
  private static final int NUMBERED = 64;

  private final AtomicInteger sharedConnections = new AtomicInteger();
  private final IntSupplier ownConnections;
  private final Counter shared;
  private final Counter own;
  private final Counter lateReplies;
  private final Counter slowHeads;
  private final Counter failures;
  private final Timer queueWait;
  private final MeterRegistry registry;
  // The meters are built with these tags, because the registry's own methods accept no Tags before
  // Micrometer 1.16.
  private final Tags tags;
  private final AtomicIntegerArray inFlight = new AtomicIntegerArray(NUMBERED);
  private final BitSet numbers = new BitSet();
  private final BitSet registered = new BitSet();

  /**
   * @param ownConnections the number of connections that serve one request at a time
   */
  SharingMeters(MeterRegistry registry, String server, IntSupplier ownConnections) {
    this.registry = registry;
    this.tags = Tags.of("server", server);
    this.ownConnections = ownConnections;
    this.shared = requests("shared");
    this.own = requests("own");
    this.lateReplies = counter(LATE_REPLIES);
    this.slowHeads = counter(SLOW_HEADS);
    this.failures = counter(FAILURES);
    this.queueWait = Timer.builder(QUEUE_WAIT).tags(tags).register(registry);
    Gauge.builder(SOCKETS, this, m -> m.sharedConnections.get())
        .tags(tags.and("use", "shared"))
        .register(registry);
    Gauge.builder(SOCKETS, this, m -> m.ownConnections.getAsInt())
        .tags(tags.and("use", "own"))
        .register(registry);
  }

  /** Takes a number for a new shared connection. */
  synchronized int takeNumber() {
    int number = numbers.nextClearBit(0);
    numbers.set(number);
    if (number < NUMBERED && !registered.get(number)) {
      registered.set(number);
      Gauge.builder(IN_FLIGHT, inFlight, all -> all.get(number))
          .tags(tags.and("socket", Integer.toString(number)))
          .register(registry);
    }
    sharedConnections.incrementAndGet();
    return number;
  }

  /** Returns the number of a connection that is no longer shared. */
  synchronized void returnNumber(int number) {
    numbers.clear(number);
    inFlight(number, 0);
    sharedConnections.decrementAndGet();
  }

  void inFlight(int number, int requests) {
    if (number < NUMBERED) {
      inFlight.lazySet(number, requests);
    }
  }

  void waited(long nanos) {
    queueWait.record(nanos, TimeUnit.NANOSECONDS);
  }

  /** Counts a request on a shared connection. */
  void shared() {
    shared.increment();
  }

  /** Counts a request on a separate connection. */
  void own() {
    own.increment();
  }

  /** Counts a reply to a request that was cancelled. */
  void lateReply() {
    lateReplies.increment();
  }

  /** Counts a connection that is not used because it is slow. */
  void slowHead() {
    slowHeads.increment();
  }

  /** Counts a connection that broke, was abandoned or could not be opened. */
  void failure() {
    failures.increment();
  }

  private Counter requests(String use) {
    return Counter.builder(REQUESTS).tags(tags.and("use", use)).register(registry);
  }

  private Counter counter(String name) {
    return Counter.builder(name).tags(tags).register(registry);
  }
}
