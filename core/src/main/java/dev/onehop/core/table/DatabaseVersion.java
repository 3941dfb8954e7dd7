package dev.onehop.core.table;

import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * The version of a database's primary shard, as {@code config.databases} has it.
 *
 * @param uuid the database's incarnation; null where the server leaves it out
 * @param timestamp the same since 5.0; null before
 * @param lastMod moves with each change of the primary shard
 */
public record DatabaseVersion(
    @Nullable BsonBinary uuid, @Nullable BsonTimestamp timestamp, int lastMod) {

  static DatabaseVersion of(BsonDocument version) {
    return new DatabaseVersion(
        version.isBinary("uuid") ? version.getBinary("uuid") : null,
        version.isTimestamp("timestamp") ? version.getTimestamp("timestamp") : null,
        ConfigFields.integer(version, "lastMod", "config.databases"));
  }

  /** The version as commands carry it. */
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
