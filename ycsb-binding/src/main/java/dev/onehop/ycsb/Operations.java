package dev.onehop.ycsb;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import site.ycsb.ByteIterator;
import site.ycsb.Status;

/**
 * YCSB's operations on a store. Each method returns a cold Mono of the operation's status. The call
 * creates the command, and the subscription sends it. Safe for use by many threads.
 */
final class Operations {
  private final DocumentStore store;
  private final boolean upsert;

  /**
   * @param upsert whether an insert replaces an existing record
   */
  Operations(DocumentStore store, boolean upsert) {
    this.store = store;
    this.upsert = upsert;
  }

  Mono<Status> read(
      String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
    return store
        .findOne(table, Documents.withKey(key), Documents.projection(fields))
        .map(
            found -> {
              Documents.read(found, result);
              return Status.OK;
            })
        .defaultIfEmpty(Status.NOT_FOUND);
  }

  @SuppressWarnings("NonApiType") // YCSB's type
  Mono<Status> scan(
      String table,
      String startKey,
      int recordCount,
      @Nullable Set<String> fields,
      List<HashMap<String, ByteIterator>> result) {
    return store
        .findOrdered(table, Documents.fromKey(startKey), Documents.projection(fields), recordCount)
        .map(
            found -> {
              for (BsonDocument document : found) {
                HashMap<String, ByteIterator> row = new HashMap<>();
                Documents.read(document, row);
                result.add(row);
              }
              return Status.OK;
            });
  }

  Mono<Status> update(String table, String key, Map<String, ByteIterator> values) {
    return store
        .update(table, Documents.withKey(key), Documents.set(values))
        .map(
            updated ->
                !updated.wasAcknowledged() || updated.getMatchedCount() > 0
                    ? Status.OK
                    : Status.NOT_FOUND);
  }

  Mono<Status> insert(String table, String key, Map<String, ByteIterator> values) {
    BsonDocument document = Documents.record(key, values);
    Mono<Void> inserted =
        upsert
            ? store.upsert(table, Documents.withKey(key), document)
            : store.insert(table, document);
    return inserted.thenReturn(Status.OK);
  }

  Mono<Status> delete(String table, String key) {
    return store
        .delete(table, Documents.withKey(key))
        .map(
            deleted ->
                !deleted.wasAcknowledged() || deleted.getDeletedCount() > 0
                    ? Status.OK
                    : Status.NOT_FOUND);
  }
}
