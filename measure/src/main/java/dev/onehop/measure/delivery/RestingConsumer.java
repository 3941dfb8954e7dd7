package dev.onehop.measure.delivery;

import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.bson.RawBsonDocument;

/**
 * A consumer that can be put to rest: a stream that was cancelled may still be handing on an event
 * on another thread.
 */
final class RestingConsumer implements EventStream.Consumer {

  private final EventStream.Consumer consumer;
  private final ReadWriteLock taking = new ReentrantReadWriteLock();
  private boolean resting; // guarded by taking

  RestingConsumer(EventStream.Consumer consumer) {
    this.consumer = consumer;
  }

  @Override
  public void take(int channel, RawBsonDocument event) {
    taking.readLock().lock();
    try {
      if (!resting) {
        consumer.take(channel, event);
      }
    } finally {
      taking.readLock().unlock();
    }
  }

  /** Waits for events that are being taken; takes none afterwards. */
  void rest() {
    taking.writeLock().lock();
    try {
      resting = true;
    } finally {
      taking.writeLock().unlock();
    }
  }
}
