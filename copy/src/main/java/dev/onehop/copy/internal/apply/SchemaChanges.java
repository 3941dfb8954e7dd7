package dev.onehop.copy.internal.apply;

import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/** Applies events that concern more than a document. Thread-safe. */
final class SchemaChanges {
  Mono<Void> apply(BsonDocument event) {
    return Mono.error(new IllegalStateException("not yet: " + event));
  }
}
