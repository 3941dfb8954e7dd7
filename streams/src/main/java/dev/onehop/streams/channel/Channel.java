package dev.onehop.streams.channel;

import dev.onehop.streams.event.StreamEvent;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A channel and its waiting events. One batch at a time is processed. The caller of a method holds
 * the lock of the channel's owner. {@link #start} also needs this lock as an argument.
 */
class Channel {
  private final int number;
  private final Deque<Entry> entries = new ArrayDeque<>();
  private boolean busy;

  Channel(int number) {
    this.number = number;
  }

  final int number() {
    return number;
  }

  final void add(Entry entry) {
    entries.add(entry);
  }

  /** Whether no event waits. */
  final boolean isEmpty() {
    return entries.isEmpty();
  }

  /** Whether no event waits and the channel is not busy. */
  final boolean isIdle() {
    return !busy && entries.isEmpty();
  }

  final boolean isBusy() {
    return busy;
  }

  /**
   * Marks the channel as busy, or as free. A channel is busy without a batch while its sink starts
   * a term or while it writes an event for which all channels wait.
   */
  final void setBusy(boolean value) {
    busy = value;
  }

  /** Removes the waiting events. */
  final List<Entry> clear() {
    List<Entry> removed = List.copyOf(entries);
    entries.clear();
    return removed;
  }

  /**
   * Starts the processing of the next batch on another thread. Does nothing if no event waits or if
   * the channel is busy.
   *
   * @param most the largest number of events in a batch
   * @param allowed whether a batch may be processed. The other thread asks again directly before
   *     the processing, because the process may have been paused until then
   * @param process processes a batch without the lock, and calls {@link #setBusy} at its end
   * @param nothing called with the lock if the other thread finds no batch that may be processed
   */
  final void start(
      Object lock,
      ChannelThreads threads,
      int most,
      BooleanSupplier allowed,
      Consumer<List<Entry>> process,
      Runnable nothing) {
    if (busy || entries.isEmpty() || !allowed.getAsBoolean()) {
      return;
    }
    busy = true;
    threads.run(
        () -> {
          List<Entry> batch;
          synchronized (lock) {
            batch = allowed.getAsBoolean() ? next(most) : List.of();
            if (batch.isEmpty()) {
              busy = false;
              nothing.run();
              return;
            }
          }
          process.accept(batch);
        });
  }

  /** The next batch: one or more changes, or a single transaction or notice. */
  private List<Entry> next(int most) {
    List<Entry> batch = new ArrayList<>();
    BatchSize size = new BatchSize(most);
    boolean more = true;
    while (more && !entries.isEmpty()) {
      boolean change = entries.element().event() instanceof StreamEvent.Change;
      more = (change || batch.isEmpty()) && size.takes(entries.element().bytes());
      if (more) {
        batch.add(entries.remove());
        more = change;
      }
    }
    return batch;
  }
}
