package dev.onehop.measure.delivery;

import dev.onehop.streams.channel.Channels;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.bson.RawBsonDocument;

/**
 * Splits a mongos' stream into the same channels as OneHop's own stream, and delivers each
 * channel's events in order on a few threads. Each channel has one thread, which other channels may
 * share. Not thread-safe: one thread calls the methods.
 */
final class ChannelSplit implements AutoCloseable {

  /** The largest number of events per call of {@link #take}; less than {@link #MOST_WAITING}. */
  static final int MOST_AT_ONCE = 4_096;

  /**
   * The largest number of events that wait for delivery. The reader waits while there is no room
   * for further events.
   */
  private static final int MOST_WAITING = 16_384;

  private final int count;
  private final EventStream.Sink sink;
  private final Semaphore room = new Semaphore(MOST_WAITING);
  private final List<ExecutorService> threads = new ArrayList<>();
  private final Consumer<Throwable> onFailure;

  /**
   * Creates a split without events.
   *
   * @param count the number of channels
   * @param onFailure receives the failures of the sink
   */
  ChannelSplit(int count, EventStream.Sink sink, Consumer<Throwable> onFailure) {
    this.count = count;
    this.sink = sink;
    this.onFailure = onFailure;
    int most = Math.min(count, 2 * Runtime.getRuntime().availableProcessors());
    for (int i = 0; i < most; i++) {
      threads.add(Executors.newSingleThreadExecutor());
    }
  }

  /**
   * Delivers events in order. Waits while too many events wait for delivery.
   *
   * @param events at most {@link #MOST_AT_ONCE} events; events without a document key are left out
   */
  void take(List<RawBsonDocument> events) throws InterruptedException {
    Map<Integer, List<RawBsonDocument>> parts =
        events.stream().collect(Collectors.groupingBy(event -> Channels.of(event, count)));
    parts.remove(Channels.ALL);
    for (Map.Entry<Integer, List<RawBsonDocument>> part : parts.entrySet()) {
      int channel = part.getKey();
      room.acquire(part.getValue().size());
      threads.get(channel % threads.size()).execute(() -> handOn(channel, part.getValue()));
    }
  }

  private void handOn(int channel, List<RawBsonDocument> part) {
    try {
      part.forEach(event -> sink.take(channel, event));
    } catch (RuntimeException | Error e) {
      onFailure.accept(e);
    } finally {
      room.release(part.size());
    }
  }

  /** Waits until all events are delivered. */
  @Override
  public void close() {
    room.acquireUninterruptibly(MOST_WAITING);
    threads.forEach(ExecutorService::shutdown);
  }
}
