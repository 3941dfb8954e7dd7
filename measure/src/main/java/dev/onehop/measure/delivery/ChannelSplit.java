package dev.onehop.measure.delivery;

import dev.onehop.streams.channel.Channels;
import java.util.ArrayDeque;
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
 * channel's events to the consumer in order, on a few threads. Used by one thread at a time.
 */
final class ChannelSplit implements AutoCloseable {

  /** How many events wait for the consumer at most; then the reader waits. */
  private static final int MOST_WAITING = 16_384;

  /**
   * How many events may be handed on at once: fewer than may wait, as these are not yet worked on.
   */
  static final int MOST_AT_ONCE = 4_096;

  private final EventStream.Consumer consumer;
  private final List<Channel> channels = new ArrayList<>();
  private final Semaphore room = new Semaphore(MOST_WAITING);
  private final ExecutorService threads;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  ChannelSplit(int count, EventStream.Consumer consumer) {
    this.consumer = consumer;
    for (int i = 0; i < count; i++) {
      channels.add(new Channel(i));
    }
    threads =
        Executors.newFixedThreadPool(
            Math.min(count, 2 * Runtime.getRuntime().availableProcessors()));
  }

  /**
   * Hands on events, in order; waits while too many wait for the consumer.
   *
   * @param events at most {@link #MOST_AT_ONCE}; those without a document key are left out
   */
  void take(List<RawBsonDocument> events) throws InterruptedException {
    List<List<RawBsonDocument>> parts = new ArrayList<>();
    channels.forEach(channel -> parts.add(new ArrayList<>()));
    for (RawBsonDocument event : events) {
      int channel = Channels.of(event, channels.size());
      if (channel != Channels.ALL) {
        room.acquire();
        parts.get(channel).add(event);
      }
    }
    for (int i = 0; i < parts.size(); i++) {
      if (!parts.get(i).isEmpty()) {
        channels.get(i).add(parts.get(i));
      }
    }
  }

  /** Why the consumer has failed; null if it has not. */
  @Nullable Throwable failure() {
    return failure.get();
  }

  /** Waits until the consumer has taken all that was handed on. */
  @Override
  public void close() {
    room.acquireUninterruptibly(MOST_WAITING);
    threads.shutdown();
  }

  /** One channel: its parts wait in line, and one thread at a time works on them. */
  private final class Channel implements Runnable {
    private final int number;
    private final ArrayDeque<List<RawBsonDocument>> waiting = new ArrayDeque<>(); // by itself
    private boolean working; // guarded by waiting

    Channel(int number) {
      this.number = number;
    }

    void add(List<RawBsonDocument> part) {
      synchronized (waiting) {
        waiting.add(part);
        if (working) {
          return;
        }
        working = true;
      }
      threads.execute(this);
    }

    @Override
    public void run() {
      while (true) {
        List<RawBsonDocument> part;
        synchronized (waiting) {
          part = waiting.poll();
          if (part == null) {
            working = false;
            return;
          }
        }
        try {
          part.forEach(event -> consumer.take(number, event));
        } catch (RuntimeException | Error e) {
          failure.compareAndSet(null, e);
        } finally {
          room.release(part.size());
        }
      }
    }
  }
}
