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
 * The few MongoDB operations YCSB needs, over one driver or another.
 *
 * <p>Each method gives a cold Mono, which fails with the driver's own {@link
 * com.mongodb.MongoException}s. Implementations are safe for use by many threads.
 */
interface DocumentStore extends AutoCloseable {

  /** Whether an operation occupies the thread that subscribes to it until the server answers. */
  boolean isBlocking();

  /** Completes when the cluster has answered a command. */
  Mono<Void> ping();

  /** The document that matches {@code filter}, empty if none does. */
  Mono<BsonDocument> findOne(
      String collection, BsonDocument filter, @Nullable BsonDocument projection);

  /** The first {@code limit} documents that match {@code filter}, in order of _id. */
  Mono<List<BsonDocument>> findOrdered(
      String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit);

  /** Inserts a document. */
  Mono<Void> insert(String collection, BsonDocument document);

  /** Replaces the document that matches {@code filter}, or inserts it. */
  Mono<Void> upsert(String collection, BsonDocument filter, BsonDocument document);

  /** Updates the document that matches {@code filter}. */
  Mono<UpdateResult> update(String collection, BsonDocument filter, BsonDocument update);

  /** Deletes the document that matches {@code filter}. */
  Mono<DeleteResult> delete(String collection, BsonDocument filter);

  /** Sends all writes in one unordered bulk. */
  Mono<Void> bulkWrite(String collection, List<? extends WriteModel<BsonDocument>> writes);

  /** Routing decisions so far, see {@link RouteCounts}. */
  Map<String, Long> routes();

  @Override
  void close();
}
