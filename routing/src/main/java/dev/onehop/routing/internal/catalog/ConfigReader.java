package dev.onehop.routing.internal.catalog;

import java.util.List;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/**
 * Reads the cluster's metadata, the {@code config} database.
 *
 * <p>An answer MUST be majority-committed and MUST NOT be older than any answer or refusal that the
 * caller had before it asked: a refresh after "stale config" that reads an older state would loop.
 */
public interface ConfigReader {

  /**
   * All documents of a collection that match.
   *
   * @param collection name within {@code config}
   * @param filter what to match; empty for everything
   * @param sort order of the answer; empty for none
   */
  Mono<List<BsonDocument>> find(String collection, BsonDocument filter, BsonDocument sort);
}
