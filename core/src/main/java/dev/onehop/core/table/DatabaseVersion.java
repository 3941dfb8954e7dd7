package dev.onehop.core.table;

import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * The version of a database's primary shard, in {@code config.databases}.
 *
 * @param uuid the database's incarnation; null if the server omits it
 * @param timestamp the second id of this incarnation, which exists from MongoDB 5.0 on; null before
 * @param lastMod grows with each change of the primary shard
 */
public record DatabaseVersion(
    @Nullable BsonBinary uuid, @Nullable BsonTimestamp timestamp, int lastMod) {

  static DatabaseVersion of(BsonDocument version) {
    return new DatabaseVersion(
        version.isBinary("uuid") ? version.getBinary("uuid") : null,
        version.isTimestamp("timestamp") ? version.getTimestamp("timestamp") : null,
        ConfigFields.integer(version, "lastMod", "config.databases"));
  }

  /** The version in the format of commands. */
  public BsonDocument toBsonDocument() {
    BsonDocument document = new BsonDocument();
    if (uuid != null) {
      document.append("uuid", uuid);
    }
    if (timestamp != null) {
      document.append("timestamp", timestamp);
    }
    return document.append("lastMod", new BsonInt32(lastMod));
  }
}
