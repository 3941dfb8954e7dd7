package dev.onehop.routing.internal.transport;

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

/**
 * The meters of one server, over all clients of a transport.
 *
 * <p>Thread-safe: several event loops may talk to one server.
 */
final class ServerMeters {
  // Sockets beyond this are counted, but not shown one by one.
  private static final int NUMBERED_SOCKETS = 64;

  final AtomicInteger lanes = new AtomicInteger();
  final AtomicInteger sharedSockets = new AtomicInteger();
  final AtomicInteger sockets = new AtomicInteger();
  final Counter shared;
  final Counter own;
  final Counter crowded;
  final Counter lateReplies;
  final Counter slowHeads;
  final Counter failures;
  private final Timer queueWait;
  private final MeterRegistry registry;
  private final Tags tags;
  private final AtomicIntegerArray inFlight = new AtomicIntegerArray(NUMBERED_SOCKETS);
  private final BitSet numbers = new BitSet();
  private final BitSet registered = new BitSet();

  ServerMeters(MeterRegistry registry, String server) {
    this.registry = registry;
    this.tags = Tags.of("server", server);
    this.shared = requests("shared");
    this.own = requests("own");
    this.crowded = requests("crowded");
    this.lateReplies = counter(PipeliningMeters.LATE_REPLIES);
    this.slowHeads = counter(PipeliningMeters.SLOW_HEADS);
    this.failures = counter(PipeliningMeters.FAILURES);
    this.queueWait = registry.timer(PipeliningMeters.QUEUE_WAIT.meterName(), tags);
    gauge(PipeliningMeters.LANES, tags, lanes);
    gauge(PipeliningMeters.SOCKETS, tags.and("use", "shared"), sharedSockets);
    Gauge.builder(
            PipeliningMeters.SOCKETS.meterName(),
            this,
            m -> m.sockets.get() - m.sharedSockets.get())
        .tags(tags.and("use", "own"))
        .register(registry);
  }

  /** A number for a socket that starts to be shared. */
  synchronized int takeNumber() {
    int number = numbers.nextClearBit(0);
    numbers.set(number);
    if (number < NUMBERED_SOCKETS && !registered.get(number)) {
      registered.set(number);
      Gauge.builder(PipeliningMeters.IN_FLIGHT.meterName(), inFlight, all -> all.get(number))
          .tags(tags.and("socket", Integer.toString(number)))
          .register(registry);
    }
    sharedSockets.incrementAndGet();
    return number;
  }

  /** Gives the number of a socket back that is no longer shared. */
  synchronized void returnNumber(int number) {
    numbers.clear(number);
    inFlight(number, 0);
    sharedSockets.decrementAndGet();
  }

  void inFlight(int number, int requests) {
    if (number >= 0 && number < NUMBERED_SOCKETS) {
      inFlight.lazySet(number, requests);
    }
  }

  void waited(long nanos) {
    queueWait.record(nanos, TimeUnit.NANOSECONDS);
  }

  private Counter requests(String use) {
    return registry.counter(PipeliningMeters.REQUESTS.meterName(), tags.and("use", use));
  }

  private Counter counter(PipeliningMeters meter) {
    return registry.counter(meter.meterName(), tags);
  }

  private void gauge(PipeliningMeters meter, Tags tags, AtomicInteger value) {
    Gauge.builder(meter.meterName(), value, AtomicInteger::get).tags(tags).register(registry);
  }
}
