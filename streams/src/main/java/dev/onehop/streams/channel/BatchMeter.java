package dev.onehop.streams.channel;

import dev.onehop.streams.observation.StreamMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Records the lag and the observations of batches. Thread-safe. */
final class BatchMeter {
  /**
   * The key of the observation in Reactor's context. Micrometer's {@code
   * ObservationThreadLocalAccessor} uses the same key.
   */
  private static final String CURRENT = "micrometer.observation";

  private final @Nullable Timer acknowledged;
  private final ObservationRegistry observations;

  /**
   * @param registry the registry for the timer; null if the lag is not measured
   */
  BatchMeter(@Nullable MeterRegistry registry, ObservationRegistry observations) {
    this.acknowledged =
        registry == null
            ? null
            : Timer.builder(StreamMeters.LAG_ACKNOWLEDGED.meterName())
                .publishPercentiles(0.5, 0.95, 0.99)
                .register(registry);
    this.observations = observations;
  }

  /** The current {@code nanoTime} for {@link #measured}; 0 if the lag is not measured. */
  long now() {
    return acknowledged == null ? 0 : System.nanoTime();
  }

  /**
   * Measures the processing of a batch.
   *
   * @param events the number of events
   * @param arrivedNanos the result of {@link #now} when the first event arrived
   */
  Mono<Void> measured(Mono<Void> processing, int channel, int events, long arrivedNanos) {
    Timer timer = acknowledged;
    Mono<Void> timed =
        timer == null
            ? processing
            : processing.doOnSuccess(
                done -> timer.record(System.nanoTime() - arrivedNanos, TimeUnit.NANOSECONDS));
    return observations.isNoop() ? timed : observed(timed, channel, events);
  }

  private Mono<Void> observed(Mono<Void> processing, int channel, int events) {
    return Mono.defer(
        () -> {
          Observation observation =
              Observation.createNotStarted("onehop.stream.batch", observations)
                  .lowCardinalityKeyValue("channel", Integer.toString(channel))
                  .highCardinalityKeyValue("events", Integer.toString(events))
                  .start();
          return processing
              .doOnError(observation::error)
              .doFinally(end -> observation.stop())
              .contextWrite(context -> context.put(CURRENT, observation));
        });
  }
}
