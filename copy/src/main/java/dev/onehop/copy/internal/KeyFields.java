package dev.onehop.copy.internal;

import java.util.Collection;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;

/** The fields of shard keys and {@code _id}, which a shard key may lie inside. */
public final class KeyFields {
  private static final String ID = "_id";

  private KeyFields() {}

  /** Whether an {@code _id} tells what a field is. */
  public static boolean isOfId(String path) {
    return path.equals(ID) || path.startsWith(ID + ".");
  }

  /**
   * Projects documents to a shard key and {@code _id}. No server takes a path beside its parent.
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
   * Projects documents to a shard key; without {@code _id} if there is nothing of it in the key.
   */
  public static BsonDocument of(Collection<String> shardKey) {
    BsonDocument projection = withId(shardKey);
    projection.put(ID, BsonBoolean.valueOf(shardKey.stream().anyMatch(KeyFields::isOfId)));
    return projection;
  }
}
