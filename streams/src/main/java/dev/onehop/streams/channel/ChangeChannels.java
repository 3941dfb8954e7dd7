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
 * A change stream whose events are processed in parallel channels: one stream per shard, split in
 * this process by the hash of the documents' {@code _id}. The events of a document are in one
 * channel, in order. Events that concern more than one document, such as {@code drop}, and
 * transactions, if they are grouped, are processed in channel 0, after everything before them and
 * before everything after them.
 *
 * <p>Each event is processed at least once: after a restart from an acknowledged position, events
 * are repeated that were processed after this position, or whose acknowledgement was not reported
 * yet.
 *
 * <p>Immutable and thread-safe.
 */
public final class ChangeChannels {
  private final Publisher<StreamEvent> events;
  private final int channels;
  private final int batch;
  private final int unacknowledged;
  private final Consumer<Checkpoint> acknowledged;
  private final Duration interval;
  private final BatchMeter meter;

  private ChangeChannels(Builder builder) {
    this.events = builder.events;
    this.channels = builder.channels;
    this.batch = builder.batch;
    this.unacknowledged = builder.unacknowledged;
    this.acknowledged = builder.acknowledged;
    this.interval = builder.interval;
    this.meter = new BatchMeter(builder.meters, builder.observations);
  }

  /**
   * Splits a stream.
   *
   * @param channels the number of channels, from 1 to {@value Channels#MOST}
   * @throws IllegalArgumentException if the number is out of range
   */
  public static Builder builder(ShardedChangeStream stream, int channels) {
    return new Builder(stream.events(), channels);
  }

  /** Splits a publisher of stream events, for example a filtered stream. */
  public static Builder builder(Publisher<StreamEvent> events, int channels) {
    return new Builder(events, channels);
  }

  /**
   * Processes the events.
   *
   * @return a cold publisher: starts with its subscription and stops when it is cancelled;
   *     completes when the stream does and everything is acknowledged; fails if the stream or the
   *     processor fails
   */
  public Publisher<Void> process(ChannelProcessor processor) {
    Objects.requireNonNull(processor, "processor");
    return Mono.<Void>create(
        sink -> {
          ChannelWork work =
              new ChannelWork(
                  channels, batch, unacknowledged, processor, acknowledged, interval, meter, sink);
          sink.onCancel(work::cancel);
          events.subscribe(work);
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
     * Sets the most events per call of the processor; 1,000 by default. A batch has at most 16 MB,
     * unless it is a single event or a transaction.
     */
    public Builder maxBatch(int most) {
      this.batch = Channels.positive("maxBatch", most);
      return this;
    }

    /**
     * Sets the most events that are read and not acknowledged, over all channels; 65,536 by
     * default. If one channel is slow, the others stop when this number of events or 64 MB of them
     * wait, plus at most 128 events.
     */
    public Builder maxUnacknowledged(int most) {
      this.unacknowledged = Channels.positive("maxUnacknowledged", most);
      return this;
    }

    /**
     * Sets the receiver of the position up to which all events in all channels are acknowledged.
     *
     * @param places stores the position; called by one thread at a time, on threads that may block;
     *     an exception fails the processing
     * @param least the shortest interval between two calls; at the end there is one more call
     */
    public Builder acknowledged(Consumer<Checkpoint> places, Duration least) {
      this.acknowledged = Objects.requireNonNull(places, "places");
      this.interval = Objects.requireNonNull(least, "least");
      return this;
    }

    /**
     * Sets the registry for {@link StreamMeters#LAG_ACKNOWLEDGED}; by default it is not measured.
     */
    public Builder meterRegistry(MeterRegistry registry) {
      this.meters = Objects.requireNonNull(registry, "registry");
      return this;
    }

    /**
     * Sets the registry for observations of the processor's calls, for tracing; by default calls
     * are not observed. An observation is named {@code onehop.stream.batch} and has the key values
     * {@code channel} and {@code events}. It is in the Reactor context of the publisher that the
     * processor returns, so that its operations become children.
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
