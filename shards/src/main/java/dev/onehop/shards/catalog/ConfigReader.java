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
 * <p>A result MUST be majority-committed and MUST NOT be older than any reply or refusal that the
 * caller received before the read. Otherwise a refresh after a "stale config" error could read an
 * older state, and the error would come again and again.
 */
public interface ConfigReader {

  /**
   * Reads raw documents batch by batch, so that they need not fit into memory. A batch is read when
   * the subscriber requests it.
   *
   * @param find the command: collection, filter, projection and sort; the implementation adds all
   *     other fields
   */
  Flux<List<BsonDocument>> batches(BsonDocument find);

  /** Reads all documents at once. */
  default Mono<List<BsonDocument>> all(BsonDocument find) {
    return batches(find).flatMapIterable(Function.identity()).collectList();
  }

  /**
   * All documents of a collection that match a filter.
   *
   * @param filter the filter; empty for all documents
   */
  default Mono<List<BsonDocument>> find(String collection, BsonDocument filter) {
    return all(query(collection, filter));
  }

  /** A list with the document that has this id; an empty list if there is no such document. */
  default Mono<List<BsonDocument>> find(String collection, String id) {
    return find(collection, new BsonDocument("_id", new BsonString(id)));
  }

  /** The command that reads the documents that match a filter. */
  static BsonDocument query(String collection, BsonDocument filter) {
    return new BsonDocument("find", new BsonString(collection)).append("filter", filter);
  }
}
