package dev.onehop.ycsb;

import com.mongodb.client.model.WriteModel;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The few MongoDB operations YCSB needs, over one driver or another.
 *
 * <p>Each call blocks until the server has answered and throws the driver's own {@link
 * com.mongodb.MongoException}s. Implementations are safe for use by many threads.
 */
interface DocumentStore extends AutoCloseable {

  /** Waits until the cluster answers a command. */
  void ping();

  /** Returns the document that matches {@code filter}, or null. */
  @Nullable BsonDocument findOne(
      String collection, BsonDocument filter, @Nullable BsonDocument projection);

  /** Returns the first {@code limit} documents that match {@code filter}, in order of _id. */
  List<BsonDocument> findOrdered(
      String collection, BsonDocument filter, @Nullable BsonDocument projection, int limit);

  void insert(String collection, BsonDocument document);

  /** Replaces the document that matches {@code filter}, or inserts it. */
  void upsert(String collection, BsonDocument filter, BsonDocument document);

  UpdateResult update(String collection, BsonDocument filter, BsonDocument update);

  DeleteResult delete(String collection, BsonDocument filter);

  /** Sends all writes in one unordered bulk. */
  void bulkWrite(String collection, List<? extends WriteModel<BsonDocument>> writes);

  /** Routing decisions so far, see {@link RouteCounts}. */
  Map<String, Long> routes();

  @Override
  void close();
}
