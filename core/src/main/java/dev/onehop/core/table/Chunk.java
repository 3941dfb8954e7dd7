package dev.onehop.core.table;

import org.bson.BsonDocument;

/**
 * One range of shard keys and its owner.
 *
 * @param min the lower bound, inclusive; for a hashed field it has the hash
 * @param max the upper bound, exclusive
 * @param shard the owning shard's name
 * @param version the version of the chunk's last change
 */
public record Chunk(BsonDocument min, BsonDocument max, String shard, ChunkVersion version) {
  @Override
  public String toString() {
    return "[" + min.toJson() + ", " + max.toJson() + ") on " + shard + " at " + version;
  }
}
