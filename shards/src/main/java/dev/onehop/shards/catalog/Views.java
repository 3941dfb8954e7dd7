package dev.onehop.shards.catalog;

import java.time.Duration;
import reactor.core.publisher.Mono;

/** Finds out which namespaces are views; the config servers do not know. Thread-safe. */
@FunctionalInterface
public interface Views {
  /**
   * Whether a namespace that is not sharded is a view.
   *
   * @param primaryShard the shard that has the definitions of the database's views
   */
  Mono<Boolean> isView(String namespace, String primaryShard);

  /**
   * How long a namespace counts as a collection, or as a view: no error says that the one has taken
   * the other's place. After half of it, a namespace in use is looked at in the background.
   */
  default Duration validFor() {
    return Duration.ofSeconds(20);
  }
}
