package dev.onehop.measure.delivery;

import dev.onehop.streams.channel.Channels;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

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
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  /**
   * Creates a split without events.
   *
   * @param count the number of channels
   */
  ChannelSplit(int count, EventStream.Sink sink) {
    this.count = count;
    this.sink = sink;
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
    List<List<RawBsonDocument>> parts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      parts.add(new ArrayList<>());
    }
    for (RawBsonDocument event : events) {
      int channel = Channels.of(event, count);
      if (channel != Channels.ALL) {
        parts.get(channel).add(event);
      }
    }
    for (int i = 0; i < count; i++) {
      int channel = i;
      List<RawBsonDocument> part = parts.get(i);
      if (!part.isEmpty()) {
        room.acquire(part.size());
        threads.get(i % threads.size()).execute(() -> handOn(channel, part));
      }
    }
  }

  private void handOn(int channel, List<RawBsonDocument> part) {
    try {
      part.forEach(event -> sink.take(channel, event));
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
    } finally {
      room.release(part.size());
    }
  }

  /** The failure of the sink; null if there is none. */
  @Nullable Throwable failure() {
    return failure.get();
  }

  /** Waits until all events are delivered. */
  @Override
  public void close() {
    room.acquireUninterruptibly(MOST_WAITING);
    threads.forEach(ExecutorService::shutdown);
  }
}
