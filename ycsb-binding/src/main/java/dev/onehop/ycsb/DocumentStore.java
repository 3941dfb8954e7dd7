package dev.onehop.ycsb;

import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The MongoDB operations that YCSB needs, for the reactive and the synchronous driver.
 *
 * <p>Each method returns a cold Mono, which fails with the driver's own {@link
 * com.mongodb.MongoException}s. Implementations are safe for use by many threads.
 */
interface DocumentStore extends AutoCloseable {

  /** Whether an operation blocks the subscribing thread until the reply. */
  boolean isBlocking();

  /** Sends the command {@code ping}. Completes when the reply has arrived. */
  Mono<Void> ping();

  /** Finds a document that matches {@code filter}. Empty if no document matches. */
  Mono<BsonDocument> findOne(
      String collection, BsonDocument filter, @Nullable BsonDocument projection);

  /** The first {@code limit} documents that match {@code filter}, in order of _id. */
  Mono<List<BsonDocument>> findOrdered(
      String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit);

  /** Inserts a document. */
  Mono<Void> insert(String collection, BsonDocument document);

  /**
   * Replaces the document that matches {@code filter}; inserts {@code document} if none matches.
   */
  Mono<Void> upsert(String collection, BsonDocument filter, BsonDocument document);

  /** Updates the document that matches {@code filter}. */
  Mono<UpdateResult> update(String collection, BsonDocument filter, BsonDocument update);

  /** Deletes the document that matches {@code filter}. */
  Mono<DeleteResult> delete(String collection, BsonDocument filter);

  /** Sends all writes in one unordered bulk. */
  Mono<Void> bulkWrite(String collection, List<? extends WriteModel<BsonDocument>> writes);

  /** Counts of routing decisions so far, see {@link RouteCounts}. */
  Map<String, Long> routes();

  @Override
  void close();
}
