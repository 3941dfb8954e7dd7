package dev.onehop.streams.channel;

import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.observation.StreamMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * A change stream whose events are processed in parallel channels. This process reads the stream
 * once and assigns each event to a channel by the hash of the document's {@code _id}. The events of
 * a document are in one channel, in order. Channel 0 processes the events that concern more than
 * one document, such as {@code drop}, and grouped transactions. Such an event is processed after
 * all earlier events of all channels and before all later events.
 *
 * <p>Each event is processed at least once. After a restart from an acknowledged position, all
 * events after this position are processed again, also those that were processed before.
 *
 * <p>Immutable and thread-safe.
 */
public final class ChangeChannels {
  final Publisher<StreamEvent> events;
  final int channels;
  final int batch;
  final int unacknowledged;
  final Consumer<Checkpoint> acknowledged;
  final long intervalNanos;
  final BatchMeter meter;

  private ChangeChannels(Builder builder) {
    this.events = builder.events;
    this.channels = builder.channels;
    this.batch = builder.batch;
    this.unacknowledged = builder.unacknowledged;
    this.acknowledged = builder.acknowledged;
    this.intervalNanos = builder.interval.toNanos();
    this.meter = new BatchMeter(builder.meters, builder.observations);
  }

  /**
   * Creates a builder for channels of a stream.
   *
   * @param channels the number of channels, from 1 to {@value Channels#MOST}
   * @throws IllegalArgumentException if the number is out of range
   */
  public static Builder builder(ShardedChangeStream stream, int channels) {
    return new Builder(stream.events(), channels);
  }

  /**
   * Creates a builder for channels of any publisher of stream events, for example of a filtered
   * stream.
   */
  public static Builder builder(Publisher<StreamEvent> events, int channels) {
    return new Builder(events, channels);
  }

  /**
   * Processes the events.
   *
   * @return a cold publisher. The processing starts with the subscription and stops when the
   *     subscription is cancelled. The publisher completes when the stream has completed and all
   *     events are acknowledged. It fails if the stream or the processor fails
   */
  public Publisher<Void> process(ChannelProcessor processor) {
    Objects.requireNonNull(processor, "processor");
    return Mono.<Void>create(
        sink -> {
          ChannelWork work = new ChannelWork(this, processor, sink);
          sink.onCancel(work::stop);
          work.start();
        });
  }

  /** Builds channels. Not thread-safe. */
  public static final class Builder {
    private final Publisher<StreamEvent> events;
    private final int channels;
    private int batch = Channels.DEFAULT_BATCH;
    private int unacknowledged = Channels.DEFAULT_UNACKNOWLEDGED;
    private Consumer<Checkpoint> acknowledged = place -> {};
    private Duration interval = Duration.ofSeconds(1);
    private @Nullable MeterRegistry meters;
    private ObservationRegistry observations = ObservationRegistry.NOOP;

    private Builder(Publisher<StreamEvent> events, int channels) {
      this.events = Objects.requireNonNull(events, "events");
      this.channels = Channels.checked(channels);
    }

    /**
     * Sets the largest number of events in a call of the processor; 1,000 by default. A batch has
     * at most 16 MB. A batch with a single event or with a transaction may be larger.
     */
    public Builder maxBatch(int most) {
      this.batch = Channels.positive("maxBatch", most);
      return this;
    }

    /**
     * Sets the largest number of events, of all channels together, that are read but not yet
     * acknowledged; 65,536 by default. At this number, no more events are read until some are
     * acknowledged. So one slow channel can stop all channels. Reading also pauses when the events
     * that are not acknowledged have more than 64 MB; up to 128 further events may then still
     * arrive.
     */
    public Builder maxUnacknowledged(int most) {
      this.unacknowledged = Channels.positive("maxUnacknowledged", most);
      return this;
    }

    /**
     * Sets the receiver of the position up to which all events in all channels are acknowledged.
     *
     * @param places receives the position. One thread at a time calls it, and the call may block.
     *     If it throws an exception, the processing fails
     * @param least the shortest interval between two calls; at the end of the stream, the last
     *     position is reported even earlier
     */
    public Builder acknowledged(Consumer<Checkpoint> places, Duration least) {
      this.acknowledged = Objects.requireNonNull(places, "places");
      this.interval = Objects.requireNonNull(least, "least");
      return this;
    }

    /**
     * Sets the registry for the meter {@link StreamMeters#LAG_ACKNOWLEDGED}; by default this lag is
     * not measured.
     */
    public Builder meterRegistry(MeterRegistry registry) {
      this.meters = Objects.requireNonNull(registry, "registry");
      return this;
    }

    /**
     * Sets the registry for observations of the processor's calls, for tracing; by default calls
     * are not observed. An observation is named {@code onehop.stream.batch} and has the key values
     * {@code channel} and {@code events}. The Reactor context of the processor's publisher contains
     * the observation, so that observations of the processor's operations become its children.
     */
    public Builder observationRegistry(ObservationRegistry registry) {
      this.observations = Objects.requireNonNull(registry, "registry");
      return this;
    }

    /**
     * Creates the channels. Nothing starts before {@link ChangeChannels#process} is subscribed to.
     */
    public ChangeChannels build() {
      return new ChangeChannels(this);
    }
  }
}
