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
 * Splits a mongos' stream into the same channels as OneHop's own stream has, and hands each
 * channel's events on in order, on a few threads. Each channel has one thread, which it may share.
 * Used by one thread.
 */
final class ChannelSplit implements AutoCloseable {

  /** How many events may be handed on at once; fewer than may wait. */
  static final int MOST_AT_ONCE = 4_096;

  /** How many events wait to be taken at most; then the reader waits. */
  private static final int MOST_WAITING = 16_384;

  private final int count;
  private final EventStream.Sink sink;
  private final Semaphore room = new Semaphore(MOST_WAITING);
  private final List<ExecutorService> threads = new ArrayList<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  /**
   * A split that has nothing yet.
   *
   * @param count how many channels
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
   * Hands on events, in order; waits while too many wait to be taken.
   *
   * @param events at most {@link #MOST_AT_ONCE}; those without a document key are left out
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

  /** Why the sink has failed; null if it has not. */
  @Nullable Throwable failure() {
    return failure.get();
  }

  /** Waits until all that was handed on is taken. */
  @Override
  public void close() {
    room.acquireUninterruptibly(MOST_WAITING);
    threads.forEach(ExecutorService::shutdown);
  }
}
