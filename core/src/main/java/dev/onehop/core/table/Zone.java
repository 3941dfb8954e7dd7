package dev.onehop.core.table;

import org.bson.BsonDocument;

/**
 * A range of shard keys that an administrator has assigned to a zone. The balancer will move its
 * chunks there, but they may be elsewhere, so routing ignores zones.
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
