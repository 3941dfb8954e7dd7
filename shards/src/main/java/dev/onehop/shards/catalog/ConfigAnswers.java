package dev.onehop.shards.catalog;

import dev.onehop.wire.NoAnswer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/**
 * A reader of the metadata. A read fails if a server does not reply in time. The reader also
 * records whether the servers reply at all.
 *
 * <p>Thread-safe.
 */
final class ConfigAnswers implements ConfigReader {
  /**
   * The longest wait for one reply, which contains one batch. After this time the read fails, and
   * the next attempt may choose another server.
   */
  private static final Duration LONGEST_SILENCE = Duration.ofSeconds(10);

  private final ConfigReader reader;

  /** The start of the oldest read since the last reply; null if all reads have a reply. */
  private final AtomicReference<@Nullable Long> unansweredSinceNanos = new AtomicReference<>();

  ConfigAnswers(ConfigReader reader) {
    this.reader = reader;
  }

  /** Whether a read started at least this long ago, and no read has received a reply since then. */
  boolean areMissingFor(Duration time) {
    Long since = unansweredSinceNanos.get();
    return since != null && System.nanoTime() - since >= time.toNanos();
  }

  @Override
  public Flux<List<BsonDocument>> batches(BsonDocument find) {
    return Flux.defer(
        () -> {
          unansweredSinceNanos.compareAndSet(null, System.nanoTime());
          return reader
              .batches(find)
              .timeout(LONGEST_SILENCE, NoAnswer.within(LONGEST_SILENCE))
              .doOnNext(batch -> unansweredSinceNanos.set(null))
              .doOnComplete(() -> unansweredSinceNanos.set(null))
              .doOnError(
                  failure -> !(failure instanceof TimeoutException),
                  failure -> unansweredSinceNanos.set(null));
        });
  }
}
