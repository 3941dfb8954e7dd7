package dev.onehop.shards.catalog;

import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * Checks whether a namespace is a view. The check is needed because the config servers have no list
 * of views. Thread-safe.
 */
@FunctionalInterface
public interface Views {
  /**
   * Whether a namespace that is not sharded is a view.
   *
   * @param primaryShard the shard with the definitions of the database's views
   */
  Mono<Boolean> isView(String namespace, String primaryShard);

  /**
   * The time for which the result of a check stays valid. Checks are repeated, because no server
   * reports an error if a view has replaced a collection, or if a collection has replaced a view.
   * After half of this time, a namespace in use is checked again in the background.
   */
  default Duration validFor() {
    return Duration.ofSeconds(20);
  }
}
