package dev.onehop.routing.internal.direct.cursor;

import dev.onehop.routing.internal.direct.shard.ErrorCodes;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt64;
import org.bson.BsonString;

/** Builds and reads the {@code cursor} part of replies. */
public final class CursorReplies {
  private CursorReplies() {}

  public static BsonDocument first(String namespace, long id, List<? extends BsonDocument> batch) {
    return reply("firstBatch", namespace, id, batch);
  }

  public static BsonDocument next(String namespace, long id, List<? extends BsonDocument> batch) {
    return reply("nextBatch", namespace, id, batch);
  }

  private static BsonDocument reply(
      String name, String namespace, long id, List<? extends BsonDocument> batch) {
    return new BsonDocument(
            "cursor",
            new BsonDocument(name, new BsonArray(List.copyOf(batch)))
                .append("id", new BsonInt64(id))
                .append("ns", new BsonString(namespace)))
        .append("ok", new BsonDouble(1));
  }

  public static long id(BsonDocument reply) {
    return ErrorCodes.ok(reply) && reply.isDocument("cursor")
        ? reply.getDocument("cursor").getNumber("id").longValue()
        : 0;
  }

  public static BsonArray batch(BsonDocument reply) {
    BsonDocument cursor = reply.getDocument("cursor");
    return cursor.containsKey("firstBatch")
        ? cursor.getArray("firstBatch")
        : cursor.getArray("nextBatch");
  }

  public static BsonDocument withId(BsonDocument reply, long id) {
    BsonDocument cursor = new BsonDocument();
    cursor.putAll(reply.getDocument("cursor"));
    cursor.put("id", new BsonInt64(id));
    BsonDocument copy = new BsonDocument();
    copy.putAll(reply);
    copy.put("cursor", cursor);
    return copy;
  }
}
