package dev.onehop.core.table;

import org.bson.BsonDocument;

/**
 * A range of shard keys that an administrator has assigned to a zone. The balancer moves the chunks
 * of the range to shards of the zone. Until then they may be on other shards, so routing ignores
 * zones.
 *
 * @param namespace the collection
 * @param min the lower bound, inclusive
 * @param max the upper bound, exclusive
 * @param name the zone ({@code tag} in {@code config.tags})
 */
public record Zone(String namespace, BsonDocument min, BsonDocument max, String name) {
  /**
   * Reads a document of {@code config.tags}.
   *
   * @throws InconsistentRoutingTableException if a field is missing or of another type
   */
  public static Zone of(BsonDocument tag) {
    return new Zone(
        ConfigFields.string(tag, "ns", "config.tags"),
        ConfigFields.document(tag, "min", "config.tags"),
        ConfigFields.document(tag, "max", "config.tags"),
        ConfigFields.string(tag, "tag", "config.tags"));
  }
}
