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
 * A reader that fails a read when its server is silent for too long, and knows whether the servers
 * answer at all.
 *
 * <p>Thread-safe.
 */
final class ConfigAnswers implements ConfigReader {
  /** For one answer, so one batch; then its server is lost, and the next attempt finds another. */
  private static final Duration LONGEST_SILENCE = Duration.ofSeconds(10);

  private final ConfigReader reader;

  /** When the first read began since the last answer; null if all are answered. */
  private final AtomicReference<@Nullable Long> unansweredSinceNanos = new AtomicReference<>();

  ConfigAnswers(ConfigReader reader) {
    this.reader = reader;
  }

  /** Whether no read is answered that began so long ago, nor any since. */
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
