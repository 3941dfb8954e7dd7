package dev.onehop.core.table;

import org.bson.BsonDocument;

/**
 * One range of shard keys and its owner.
 *
 * @param min the least key in it, hashed fields as hashes
 * @param max the least key above it
 * @param shard the owning shard's name
 * @param version when the chunk last changed
 */
public record Chunk(BsonDocument min, BsonDocument max, String shard, ChunkVersion version) {
  @Override
  public String toString() {
    return "[" + min.toJson() + ", " + max.toJson() + ") on " + shard + " at " + version;
  }
}
