package dev.onehop.routing.internal.wire;

import dev.onehop.routing.transport.PipeliningMeters;
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
 * The meters of one server whose connections are shared.
 *
 * <p>Thread-safe.
 */
final class SharingMeters {
  /** Connections beyond this are counted, but not shown one by one. */
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
  private final Tags tags;
  private final AtomicIntegerArray inFlight = new AtomicIntegerArray(NUMBERED);
  private final BitSet numbers = new BitSet();
  private final BitSet registered = new BitSet();

  /**
   * @param ownConnections how many connections serve one request at a time
   */
  SharingMeters(MeterRegistry registry, String server, IntSupplier ownConnections) {
    this.registry = registry;
    this.tags = Tags.of("server", server);
    this.ownConnections = ownConnections;
    this.shared = requests("shared");
    this.own = requests("own");
    this.lateReplies = counter(PipeliningMeters.LATE_REPLIES);
    this.slowHeads = counter(PipeliningMeters.SLOW_HEADS);
    this.failures = counter(PipeliningMeters.FAILURES);
    this.queueWait = registry.timer(PipeliningMeters.QUEUE_WAIT.meterName(), tags);
    Gauge.builder(PipeliningMeters.SOCKETS.meterName(), this, m -> m.sharedConnections.get())
        .tags(tags.and("use", "shared"))
        .register(registry);
    Gauge.builder(PipeliningMeters.SOCKETS.meterName(), this, m -> m.ownConnections.getAsInt())
        .tags(tags.and("use", "own"))
        .register(registry);
  }

  /** A number for a connection that starts to be shared. */
  synchronized int takeNumber() {
    int number = numbers.nextClearBit(0);
    numbers.set(number);
    if (number < NUMBERED && !registered.get(number)) {
      registered.set(number);
      Gauge.builder(PipeliningMeters.IN_FLIGHT.meterName(), inFlight, all -> all.get(number))
          .tags(tags.and("socket", Integer.toString(number)))
          .register(registry);
    }
    sharedConnections.incrementAndGet();
    return number;
  }

  /** Gives the number of a connection back that is not shared any more. */
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

  /** A request is sent among others. */
  void shared() {
    shared.increment();
  }

  /** A request gets a connection of its own. */
  void own() {
    own.increment();
  }

  /** An answer came that nothing waited for any more. */
  void lateReply() {
    lateReplies.increment();
  }

  /** A connection is passed over. */
  void slowHead() {
    slowHeads.increment();
  }

  /** A connection broke, was given up or could not be opened. */
  void failure() {
    failures.increment();
  }

  private Counter requests(String use) {
    return registry.counter(PipeliningMeters.REQUESTS.meterName(), tags.and("use", use));
  }

  private Counter counter(PipeliningMeters meter) {
    return registry.counter(meter.meterName(), tags);
  }
}
