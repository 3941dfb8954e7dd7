package dev.onehop.shards.catalog;

import java.util.List;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonString;
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
   * Documents as they come, batch by batch and raw, so that they need not all be at hand at once. A
   * batch is read on request.
   *
   * @param find the command: what of which collection, in which order. Who sends it adds the rest
   */
  Flux<List<BsonDocument>> batches(BsonDocument find);

  /** The same, all at once. */
  default Mono<List<BsonDocument>> all(BsonDocument find) {
    return batches(find).flatMapIterable(Function.identity()).collectList();
  }

  /**
   * All documents of a collection that match.
   *
   * @param filter what to match; empty for everything
   */
  default Mono<List<BsonDocument>> find(String collection, BsonDocument filter) {
    return all(query(collection, filter));
  }

  /** The one with that id, or none. */
  default Mono<List<BsonDocument>> find(String collection, String id) {
    return find(collection, new BsonDocument("_id", new BsonString(id)));
  }

  /** The command that reads what matches. */
  static BsonDocument query(String collection, BsonDocument filter) {
    return new BsonDocument("find", new BsonString(collection)).append("filter", filter);
  }
}
