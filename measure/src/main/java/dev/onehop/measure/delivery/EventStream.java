package dev.onehop.measure.delivery;

import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/** A change stream whose events come in channels. Opened once, by its factory. */
interface EventStream extends AutoCloseable {

  /**
   * How many events a server sends at most at once, of every source. Without it one fills 16 MB of
   * a backlog before it sends any, while the consumer waits.
   */
  int BATCH = 1_000;

  /** Takes events. */
  @FunctionalInterface
  interface Consumer {
    /**
     * Takes the next event of a channel: not called again for the channel before it returns;
     * several channels may call it at the same time.
     *
     * @param channel from 0
     */
    void take(int channel, RawBsonDocument event);
  }

  /** Why it has ended by itself; null if it has not. */
  @Nullable Throwable failure();

  /** Ends it; no event is taken after it has returned. */
  @Override
  void close();
}
