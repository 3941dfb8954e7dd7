package dev.onehop.copy.internal;

import java.util.Collection;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;

/**
 * Creates projections to the fields of a shard key and to {@code _id}. A shard key may have fields
 * inside {@code _id}.
 */
public final class KeyFields {
  /** The key of the index of {@code _id}. */
  public static final BsonDocument BY_ID = new BsonDocument("_id", new BsonInt32(1));

  private static final String ID = "_id";

  private KeyFields() {}

  /** Whether a path is {@code _id} or a field inside {@code _id}. */
  public static boolean isOfId(String path) {
    return path.equals(ID) || path.startsWith(ID + ".");
  }

  /**
   * Projects documents to the fields of a shard key and {@code _id}. Fields inside {@code _id} are
   * left out, because servers refuse a path together with its parent.
   */
  public static BsonDocument withId(Collection<String> shardKey) {
    BsonDocument projection = new BsonDocument(ID, BsonBoolean.TRUE);
    for (String path : shardKey) {
      if (!isOfId(path)) {
        projection.append(path, BsonBoolean.TRUE);
      }
    }
    return projection;
  }

  /**
   * Projects documents to the fields of a shard key. The whole {@code _id} is included only if the
   * shard key has {@code _id} or a field inside it.
   */
  public static BsonDocument of(Collection<String> shardKey) {
    BsonDocument projection = withId(shardKey);
    projection.put(ID, BsonBoolean.valueOf(shardKey.stream().anyMatch(KeyFields::isOfId)));
    return projection;
  }
}
