package dev.onehop.core.table;

import org.bson.BsonDocument;

/**
 * A range of shard keys that an administrator tied to a zone. It says where the balancer will move
 * chunks, not where they are: routing never looks at it.
 *
 * @param namespace the collection
 * @param min the least key in it
 * @param max the least key above it
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
