package dev.onehop.streams.internal.shard;

import java.util.HashSet;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/**
 * Finds the document of an update event. The event has the document's key from before the update.
 * This key does not match the document if the update has changed the shard key and the document has
 * stayed on its shard.
 */
final class KeyAfterUpdate {
  private KeyAfterUpdate() {}

  /**
   * A filter for the document after the update. If the update has changed a field of the key, and
   * the event does not have the new value, the filter leaves this field out.
   *
   * @param event an event of type {@code update}
   */
  static BsonDocument filter(BsonDocument event) {
    BsonDocument before = event.getDocument("documentKey");
    if (before.size() == 1
        || !(event.get("updateDescription") instanceof BsonDocument description)) {
      return before;
    }
    BsonDocument updated = description.getDocument("updatedFields");
    Set<String> changed = new HashSet<>(updated.keySet());
    description.getArray("removedFields").forEach(path -> changed.add(path.asString().getValue()));
    BsonDocument after = new BsonDocument();
    before.forEach(
        (path, value) -> {
          BsonValue set = updated.get(path);
          if (set != null) {
            after.append(path, set);
          } else if (changed.stream().noneMatch(each -> overlaps(each, path))) {
            after.append(path, value);
          }
        });
    return after;
  }

  private static boolean overlaps(String one, String other) {
    return (one + ".").startsWith(other + ".") || (other + ".").startsWith(one + ".");
  }
}
