package dev.onehop.streams.channel;

import com.mongodb.client.model.Updates;
import dev.onehop.streams.channel.SnapshotReader.Read;
import dev.onehop.streams.channel.SnapshotReader.Scan;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * A sink that first writes the documents of each channel, and then the channel's events. When a
 * member takes a channel whose documents are not all written, it reads and writes the missing
 * documents. One scan of the collection serves all channels that a member takes at about the same
 * time. Thread-safe.
 */
final class SnapshotSink implements ChannelSink {
  private static final Logger log = LoggerFactory.getLogger(SnapshotSink.class);
  private static final String PROGRESS = "snapshot";

  /**
   * The time to wait for more channels before a scan starts, because a member takes its channels
   * one after another.
   */
  private static final Duration GATHER = Duration.ofMillis(200);

  /**
   * The most documents of a chunk, per channel. One chunk is written while the next chunk is read.
   */
  private static final int CHUNK_PER_CHANNEL = 500;

  private final SnapshotReader reader;
  private final FencedSink sink;
  private final Map<Integer, SnapshotProgress> progress = new ConcurrentHashMap<>();
  private final Sinks.Empty<Void> closed = Sinks.empty();
  private List<Lane> gathered = new ArrayList<>(); // guarded by this

  /** A channel whose documents are being written. */
  private static final class Lane {
    private final int channel;
    private final long term;
    private final Sinks.One<Checkpoint> filled = Sinks.one();
    // The last document that an earlier owner of the channel has written.
    private final @Nullable SortedId before;
    private volatile SnapshotProgress progress;
    private volatile boolean fenced;

    Lane(int channel, long term, SnapshotProgress progress) {
      this.channel = channel;
      this.term = term;
      this.progress = progress;
      this.before = progress.upTo();
    }

    boolean needs(Read read) {
      return !fenced && (before == null || read.id().compareTo(before) > 0);
    }
  }

  SnapshotSink(SnapshotReader reader, FencedSink sink) {
    this.reader = reader;
    this.sink = sink;
  }

  @Override
  public Publisher<Checkpoint> begin(int channel, long term) {
    return sink.raised(channel, term).flatMap(state -> begun(channel, term, state));
  }

  private Mono<Checkpoint> begun(int channel, long term, BsonDocument state) {
    SnapshotProgress stored = SnapshotProgress.parse(state.get(PROGRESS));
    BsonValue place = state.get(FencedSink.PLACE);
    if (place != null) {
      progress.put(channel, stored);
      return Mono.just(Checkpoint.parse(place.asDocument()));
    }
    Lane lane = new Lane(channel, term, stored);
    synchronized (this) {
      gathered.add(lane);
      if (gathered.size() == 1) {
        var unused =
            Mono.delay(GATHER, Schedulers.boundedElastic()).subscribe(now -> fillGathered());
      }
    }
    return lane.filled.asMono();
  }

  private void fillGathered() {
    Map<Integer, Lane> lanes = new LinkedHashMap<>();
    synchronized (this) {
      gathered.forEach(lane -> lanes.put(lane.channel, lane));
      gathered = new ArrayList<>();
    }
    fill(lanes)
        .takeUntilOther(closed.asMono())
        .doOnError(failure -> lanes.values().forEach(lane -> lane.filled.tryEmitError(failure)))
        .doFinally(
            end ->
                lanes
                    .values()
                    .forEach(lane -> lane.filled.tryEmitError(new CancellationException("closed"))))
        .subscribe(nothing -> {}, failure -> {});
  }

  private Mono<Void> fill(Map<Integer, Lane> lanes) {
    List<Integer> channels = lanes.keySet().stream().sorted().toList();
    log.info("filling channels {} with a snapshot of {}", Channels.ranges(channels), reader.name());
    Scan scan = new Scan(start(lanes));
    AtomicLong documents = new AtomicLong();
    BatchSize chunks = new BatchSize(lanes.size() * CHUNK_PER_CHANNEL);
    return reader
        .read(scan)
        .filter(
            read -> lanes.containsKey(read.channel()) && lane(lanes, read.channel()).needs(read))
        .bufferUntil(read -> !chunks.takes(Channels.bytes(read.event())), /* cutBefore= */ true)
        .publishOn(Schedulers.boundedElastic(), 1)
        .concatMap(
            chunk ->
                Flux.fromIterable(
                        chunk.stream().collect(Collectors.groupingBy(Read::channel)).entrySet())
                    .flatMap(
                        each -> write(lane(lanes, each.getKey()), each.getValue()), lanes.size())
                    .doOnComplete(() -> documents.addAndGet(chunk.size())),
            0)
        .thenMany(
            Flux.defer(() -> Flux.fromIterable(lanes.values()))
                .flatMap(lane -> end(lane, Objects.requireNonNull(scan.first())), lanes.size()))
        .then()
        .doOnSuccess(
            done ->
                log.info(
                    "filled channels {} with {} documents",
                    Channels.ranges(channels),
                    documents.get()));
  }

  /**
   * The least {@code _id} that all channels have reached; null for the beginning of the collection.
   */
  private static @Nullable SortedId start(Map<Integer, Lane> lanes) {
    return lanes.values().stream()
        .map(lane -> lane.progress)
        .min(SnapshotProgress::compareUpTo)
        .map(SnapshotProgress::upTo)
        .orElse(null);
  }

  private static Lane lane(Map<Integer, Lane> lanes, int channel) {
    return Objects.requireNonNull(lanes.get(channel));
  }

  private Mono<Void> write(Lane lane, List<Read> reads) {
    SnapshotProgress after = lane.progress.after(reads);
    return write(
            lane,
            reads.stream().map(Read::event).toList(),
            Updates.set(PROGRESS, after.toDocument()))
        .doOnSuccess(written -> lane.progress = after);
  }

  private Mono<Void> end(Lane lane, BsonTimestamp first) {
    Checkpoint place = lane.progress.place(first);
    return write(lane, List.of(), FencedSink.place(place))
        .doOnSuccess(
            written -> {
              progress.put(lane.channel, lane.progress);
              lane.filled.tryEmitValue(place);
            });
  }

  /**
   * Writes events. If the channel has another owner by now, nothing is written, and the scan
   * continues for the other channels.
   */
  private Mono<Void> write(Lane lane, List<StreamEvent.Change> events, Bson state) {
    return lane.fenced
        ? Mono.empty()
        : Mono.defer(() -> sink.write(lane.channel, lane.term, events, state))
            .onErrorResume(
                FencedException.class,
                fenced -> {
                  lane.fenced = true;
                  lane.filled.tryEmitError(fenced);
                  return Mono.empty();
                });
  }

  @Override
  public Publisher<Void> write(ChannelBatch batch) {
    SnapshotProgress read = progress.getOrDefault(batch.channel(), SnapshotProgress.NONE);
    return sink.write(
        batch.channel(),
        batch.term(),
        batch.events().stream().filter(event -> !read.includes(event)).toList(),
        FencedSink.place(batch.place()));
  }

  @Override
  public Publisher<Void> notice(StreamEvent notice) {
    return sink.notice(notice);
  }

  /** Ends all scans. */
  void close() {
    closed.tryEmitEmpty();
  }
}
