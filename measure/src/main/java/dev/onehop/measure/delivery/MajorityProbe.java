package dev.onehop.measure.delivery;

import com.mongodb.ReadConcern;
import com.mongodb.client.MongoCollection;
import java.util.concurrent.SynchronousQueue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Another program that reads with read concern majority: asks for a write's last document again and
 * again from when the write begins, until it is there. So a time is up to one read too long. It
 * follows one write at a time, and takes the next that begins when it is free.
 */
final class MajorityProbe implements TestWriter.Listener, AutoCloseable {

  private final MongoCollection<RawBsonDocument> collection;
  private final SynchronousQueue<Write> next = new SynchronousQueue<>();
  private final Samples sinceDue = new Samples();
  private final Samples sinceBegan = new Samples();
  private final Thread thread = new Thread(this::readUntilClosed, "majority-probe");
  private volatile boolean closed;
  private volatile @Nullable RuntimeException failure;

  private record Write(RawBsonDocument document, Item item) {}

  private MajorityProbe(MongoCollection<RawBsonDocument> collection) {
    this.collection = collection.withReadConcern(ReadConcern.MAJORITY);
  }

  static MajorityProbe start(MongoCollection<RawBsonDocument> collection) {
    MajorityProbe probe = new MajorityProbe(collection);
    probe.thread.setDaemon(true);
    probe.thread.start();
    return probe;
  }

  @Override
  public void begins(RawBsonDocument last, Item item) {
    boolean unused = next.offer(new Write(last, item));
  }

  private void readUntilClosed() {
    try {
      while (!closed) {
        Write write = next.take();
        while (collection.find(Item.filter(write.document())).first() == null) {
          if (closed) {
            return;
          }
        }
        long seen = SteadyClock.micros();
        if (write.item().group() > 0) {
          sinceDue.add(seen - write.item().dueMicros());
          sinceBegan.add(seen - write.item().beganMicros());
        }
      }
    } catch (RuntimeException e) {
      if (!closed) {
        failure = e;
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  /** Fails if reading has. */
  void check() {
    RuntimeException why = failure;
    if (why != null) {
      throw why;
    }
  }

  Samples sinceDue() {
    return sinceDue;
  }

  Samples sinceBegan() {
    return sinceBegan;
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
