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
 * A change stream whose events are processed in several channels at once: one stream of each shard,
 * split here by the hash of the documents' {@code _id}. The events of a document are in one
 * channel, in their order. Events that concern more than a document, such as {@code drop}, and
 * transactions, if they are grouped, are processed in channel 0, after everything before them and
 * before everything after them.
 *
 * <p>Each event is processed at least once: after a restart from a place that was acknowledged,
 * those come again that were processed since then, or whose acknowledgement was not yet reported.
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
   * @param channels from 1 to {@value Channels#MOST}
   * @throws IllegalArgumentException if it is none of these
   */
  public static Builder builder(ShardedChangeStream stream, int channels) {
    return new Builder(stream.events(), channels);
  }

  /** The same for the events of a stream, such as those that were filtered. */
  public static Builder builder(Publisher<StreamEvent> events, int channels) {
    return new Builder(events, channels);
  }

  /**
   * Processes the events.
   *
   * @return cold: begins with its subscription, ends when that is cancelled; completes when the
   *     stream does and everything is acknowledged; fails with the stream or the processor
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

  /** Collects how a stream is split. Not thread-safe. */
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
     * Most events that a processor gets at once; 1,000 by default. They have no more than 16 MB
     * together, unless it is one event or a transaction.
     */
    public Builder maxBatch(int most) {
      this.batch = Channels.positive("maxBatch", most);
      return this;
    }

    /**
     * Most events that are read and not acknowledged, over all channels; 65,536 by default. If one
     * channel is slow, the others stop when that many wait, or 64 MB of them and at most 128 more.
     */
    public Builder maxUnacknowledged(int most) {
      this.unacknowledged = Channels.positive("maxUnacknowledged", most);
      return this;
    }

    /**
     * Where the place is stored up to which everything is acknowledged, in all channels.
     *
     * @param places called by one thread at a time, on threads that may block; when it throws, the
     *     processing fails
     * @param least how often at most; when the processing ends, once more
     */
    public Builder acknowledged(Consumer<Checkpoint> places, Duration least) {
      this.acknowledged = Objects.requireNonNull(places, "places");
      this.interval = Objects.requireNonNull(least, "least");
      return this;
    }

    /** Where {@link StreamMeters#LAG_ACKNOWLEDGED} is registered; by default it is not measured. */
    public Builder meterRegistry(MeterRegistry registry) {
      this.meters = Objects.requireNonNull(registry, "registry");
      return this;
    }

    /**
     * Where each call of the processor is observed, for tracing, as {@code onehop.stream.batch}
     * with the key values {@code channel} and {@code events}; by default none are. It is in the
     * Reactor context of what the processor returns, so that its operations become children.
     */
    public Builder observationRegistry(ObservationRegistry registry) {
      this.observations = Objects.requireNonNull(registry, "registry");
      return this;
    }

    /** Nothing begins before {@link ChangeChannels#process} is subscribed to. */
    public ChangeChannels build() {
      return new ChangeChannels(this);
    }
  }
}
