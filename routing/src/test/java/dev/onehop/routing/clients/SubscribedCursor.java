package dev.onehop.routing.clients;

import com.mongodb.MongoTimeoutException;
import com.mongodb.ServerAddress;
import com.mongodb.ServerCursor;
import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import java.util.NoSuchElementException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/**
 * A synchronous cursor over a publisher. With a batch size it requests one element at a time.
 * Without a batch size it requests all elements, because the driver uses the requested number as
 * the batch size.
 */
final class SubscribedCursor<T> implements MongoChangeStreamCursor<T> {
  private static final Object COMPLETED = new Object();
  private static final long NEXT_SECONDS = 20;
  private static final long OPEN_MILLIS = 5_000;

  private final BlockingQueue<Object> arrived = new LinkedBlockingQueue<>();
  private final CountDownLatch open = new CountDownLatch(1);
  private final boolean oneByOne;
  private boolean requested;
  private @Nullable Object current;
  private @Nullable Object last;

  private final BaseSubscriber<T> subscriber =
      new BaseSubscriber<>() {
        @Override
        protected void hookOnSubscribe(Subscription subscription) {
          requested = true;
          subscription.request(oneByOne ? 1 : Long.MAX_VALUE);
        }

        @Override
        protected void hookOnNext(T value) {
          arrives(value);
        }

        @Override
        protected void hookOnError(Throwable error) {
          arrives(error);
        }

        @Override
        protected void hookOnComplete() {
          arrives(COMPLETED);
        }

        private void arrives(Object signal) {
          arrived.add(signal);
          open.countDown();
        }
      };

  /** Returns when the cursor is open, as the synchronous driver does, or throws the failure. */
  SubscribedCursor(Publisher<T> publisher, @Nullable Integer batchSize, FirstReplies replies) {
    this.oneByOne = batchSize != null && batchSize > 0;
    int before = replies.opened();
    Runnable opened = open::countDown;
    replies.add(opened);
    publisher.subscribe(subscriber);
    awaitOpen();
    replies.remove(opened);
    if (replies.opened() == before && arrived.peek() instanceof Throwable) {
      boolean unused = hasNext();
    }
  }

  private void awaitOpen() {
    try {
      boolean unused = open.await(OPEN_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public boolean hasNext() {
    if (current == null && !await(TimeUnit.SECONDS.toMillis(NEXT_SECONDS))) {
      throw new MongoTimeoutException("nothing came within " + NEXT_SECONDS + " s");
    }
    return current != COMPLETED;
  }

  private boolean await(long millis) {
    if (oneByOne && !requested) {
      requested = true;
      subscriber.request(1);
    }
    try {
      @Nullable Object next = arrived.poll(millis, TimeUnit.MILLISECONDS);
      if (next instanceof RuntimeException error) {
        current = COMPLETED;
        throw error;
      }
      if (next instanceof Throwable error) {
        throw new IllegalStateException(error);
      }
      current = next;
      return next != null;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public T next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return taken();
  }

  @SuppressWarnings("unchecked")
  private T taken() {
    T value = (T) current;
    last = value;
    current = null;
    requested = false;
    return value;
  }

  /** Waits up to a second for an element, because a publisher does not report an empty batch. */
  @Override
  public @Nullable T tryNext() {
    return current != COMPLETED && (current != null || await(1_000)) && current != COMPLETED
        ? taken()
        : null;
  }

  @Override
  public void close() {
    subscriber.cancel();
  }

  @Override
  public int available() {
    return arrived.size();
  }

  /** The resume token of the last change. A publisher does not report the tokens of batches. */
  @Override
  public @Nullable BsonDocument getResumeToken() {
    return last instanceof ChangeStreamDocument<?> change ? change.getResumeToken() : null;
  }

  @Override
  public @Nullable ServerCursor getServerCursor() {
    throw new UnsupportedOperationException();
  }

  @Override
  public ServerAddress getServerAddress() {
    throw new UnsupportedOperationException();
  }
}
