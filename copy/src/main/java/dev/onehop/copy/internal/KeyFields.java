package dev.onehop.copy.internal;

import java.util.Collection;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;

/**
 * Projections to the fields of shard keys and {@code _id}. A shard key may have fields inside
 * {@code _id}.
 */
public final class KeyFields {
  private static final String ID = "_id";

  private KeyFields() {}

  /** Whether a field is {@code _id} or lies inside it. */
  public static boolean isOfId(String path) {
    return path.equals(ID) || path.startsWith(ID + ".");
  }

  /**
   * Projects documents to a shard key and {@code _id}. Servers refuse a path together with its
   * parent.
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

  /** Projects documents to a shard key, without {@code _id} unless the key has fields of it. */
  public static BsonDocument of(Collection<String> shardKey) {
    BsonDocument projection = withId(shardKey);
    projection.put(ID, BsonBoolean.valueOf(shardKey.stream().anyMatch(KeyFields::isOfId)));
    return projection;
  }
}
