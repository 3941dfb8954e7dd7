package dev.onehop.it.unified;

import com.mongodb.bulk.BulkWriteInsert;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.bulk.BulkWriteUpsert;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.InsertManyResult;
import com.mongodb.client.result.InsertOneResult;
import com.mongodb.client.result.UpdateResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** Writes the driver's results in the specification's form. */
final class Results {
  private static final BsonDocument UNACKNOWLEDGED =
      new BsonDocument("acknowledged", BsonBoolean.FALSE);

  private Results() {}

  static BsonDocument of(InsertOneResult result) {
    return result.wasAcknowledged() ? with("insertedId", result.getInsertedId()) : UNACKNOWLEDGED;
  }

  static BsonDocument of(InsertManyResult result) {
    if (!result.wasAcknowledged()) {
      return UNACKNOWLEDGED;
    }
    BsonDocument ids = new BsonDocument();
    result.getInsertedIds().forEach((index, id) -> ids.put(index.toString(), id));
    return new BsonDocument("insertedCount", new BsonInt32(ids.size())).append("insertedIds", ids);
  }

  static BsonDocument of(UpdateResult result) {
    if (!result.wasAcknowledged()) {
      return UNACKNOWLEDGED;
    }
    return with("upsertedId", result.getUpsertedId())
        .append("matchedCount", new BsonInt64(result.getMatchedCount()))
        .append("modifiedCount", new BsonInt64(result.getModifiedCount()))
        .append("upsertedCount", new BsonInt32(result.getUpsertedId() == null ? 0 : 1));
  }

  static BsonDocument of(DeleteResult result) {
    return result.wasAcknowledged()
        ? new BsonDocument("deletedCount", new BsonInt64(result.getDeletedCount()))
        : UNACKNOWLEDGED;
  }

  static BsonDocument of(BulkWriteResult result) {
    if (!result.wasAcknowledged()) {
      return UNACKNOWLEDGED;
    }
    BsonDocument inserted = new BsonDocument();
    for (BulkWriteInsert each : result.getInserts()) {
      inserted.put(Integer.toString(each.getIndex()), each.getId());
    }
    BsonDocument upserted = new BsonDocument();
    for (BulkWriteUpsert each : result.getUpserts()) {
      upserted.put(Integer.toString(each.getIndex()), each.getId());
    }
    return new BsonDocument("insertedCount", new BsonInt32(result.getInsertedCount()))
        .append("matchedCount", new BsonInt32(result.getMatchedCount()))
        .append("modifiedCount", new BsonInt32(result.getModifiedCount()))
        .append("deletedCount", new BsonInt32(result.getDeletedCount()))
        .append("upsertedCount", new BsonInt32(upserted.size()))
        .append("insertedIds", inserted)
        .append("upsertedIds", upserted);
  }

  static BsonArray of(Iterable<? extends BsonValue> values) {
    List<BsonValue> all = new ArrayList<>();
    values.forEach(all::add);
    return new BsonArray(all);
  }

  /** Sorts documents by {@code _id}, because documents of several shards come in any order. */
  static @Nullable BsonValue byId(@Nullable BsonValue result) {
    if (result == null
        || !result.isArray()
        || !result.asArray().stream().allMatch(Results::hasNumericId)) {
      return result;
    }
    return new BsonArray(
        result.asArray().stream()
            .sorted(Comparator.comparing(each -> each.asDocument().getNumber("_id").doubleValue()))
            .toList());
  }

  private static boolean hasNumericId(BsonValue value) {
    return value.isDocument() && value.asDocument().isNumber("_id");
  }

  static BsonArray ofNames(Iterable<String> names) {
    List<BsonValue> all = new ArrayList<>();
    names.forEach(name -> all.add(new BsonString(name)));
    return new BsonArray(all);
  }

  private static BsonDocument with(String name, @Nullable BsonValue value) {
    return value == null ? new BsonDocument() : new BsonDocument(name, value);
  }
}
