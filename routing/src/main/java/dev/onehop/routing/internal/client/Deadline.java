package dev.onehop.routing.internal.client;

import com.mongodb.TransactionOptions;
import com.mongodb.reactivestreams.client.MongoCollection;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * When the {@code timeoutMS} of an operation ends, which is for all of its parts together: each
 * gets what the ones before have left.
 */
final class Deadline {
  private final long nanos;

  private Deadline(long nanos) {
    this.nanos = nanos;
  }

  /**
   * Of an operation that begins now.
   *
   * @param timeoutMillis as it is set, null or zero for none
   * @return null for none
   */
  static @Nullable Deadline in(@Nullable Long timeoutMillis) {
    return timeoutMillis == null || timeoutMillis == 0
        ? null
        : new Deadline(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis));
  }

  /**
   * The collection with what is left; the driver fails an operation for which that is too short.
   */
  static <D> MongoCollection<D> limit(@Nullable Deadline deadline, MongoCollection<D> collection) {
    return deadline == null
        ? collection
        : collection.withTimeout(deadline.leftMillis(), TimeUnit.MILLISECONDS);
  }

  /** The same for a transaction that begins elsewhere now. */
  static TransactionOptions limit(@Nullable Deadline deadline, TransactionOptions options) {
    return deadline == null
        ? options
        : TransactionOptions.merge(
            TransactionOptions.builder()
                .timeout(deadline.leftMillis(), TimeUnit.MILLISECONDS)
                .build(),
            options);
  }

  /** The time to prepare an operation in: half of what is left, since the rest is for itself. */
  static Duration preparing(@Nullable Deadline deadline, Duration atMost) {
    if (deadline == null) {
      return atMost;
    }
    Duration half = Duration.ofNanos(Math.max(0, deadline.leftNanos() / 2));
    return half.compareTo(atMost) < 0 ? half : atMost;
  }

  /** At least one, since zero is no limit. */
  private long leftMillis() {
    return Math.max(1, TimeUnit.NANOSECONDS.toMillis(leftNanos()));
  }

  private long leftNanos() {
    return nanos - System.nanoTime();
  }
}
