package dev.onehop.shards.catalog;

import java.util.List;
import org.bson.BsonDocument;
import reactor.core.publisher.Flux;
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

  /**
   * The same for what may be much: batch by batch as it comes, raw, so that it need not be at hand
   * all at once. A batch is read on request.
   *
   * @param fields what is wanted of the documents, as a projection
   */
  default Flux<List<BsonDocument>> batches(
      String collection, BsonDocument filter, BsonDocument sort, BsonDocument fields) {
    return find(collection, filter, sort).flux();
  }
}
