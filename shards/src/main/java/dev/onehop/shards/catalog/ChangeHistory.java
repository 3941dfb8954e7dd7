package dev.onehop.shards.catalog;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import reactor.core.publisher.Mono;

/**
 * Looks for what has happened to collections since it looked last: moved ranges, drops, renames,
 * reshardings. Reads the end of the change history only, whatever its length.
 *
 * <p>Entries are distinguished by their ids, as their times come from the clocks of many servers.
 * Not thread-safe: one look at a time.
 */
public final class ChangeHistory {
  private static final int NEWEST = 30;

  /** It is a capped collection, whose natural order is that of its entries. */
  private static final BsonDocument NEWEST_FIRST = new BsonDocument("$natural", new BsonInt32(-1));

  private static final BsonDocument FIELDS = BsonDocument.parse("{what: 1, ns: 1}");

  /** What changes no ownership. */
  private static final Set<String> UNIMPORTANT =
      Set.of("split", "multi-split", "merge", "moveChunk.start", "moveChunk.error");

  private final ConfigReader config;
  private Set<BsonValue> seen = Set.of();
  private boolean looked;

  public ChangeHistory(ConfigReader config) {
    this.config = config;
  }

  /**
   * Which of some collections were changed since the last look; none at the first.
   *
   * @param namespaces to be told of
   */
  public Mono<Set<String>> changed(Collection<String> namespaces) {
    return config
        .all(
            ConfigReader.query("changelog", new BsonDocument())
                .append("sort", NEWEST_FIRST)
                .append("projection", FIELDS)
                .append("limit", new BsonInt32(NEWEST)))
        .map(entries -> changed(entries, Set.copyOf(namespaces)));
  }

  private Set<String> changed(List<BsonDocument> entries, Set<String> namespaces) {
    Set<BsonValue> ids = new HashSet<>();
    Set<String> changed = new HashSet<>();
    boolean reachesBack = entries.size() < NEWEST;
    for (BsonDocument entry : entries) {
      BsonValue id = entry.get("_id");
      ids.add(id);
      if (seen.contains(id)) {
        reachesBack = true;
      } else if (!UNIMPORTANT.contains(text(entry, "what"))) {
        String concerned = text(entry, "ns");
        for (String namespace : namespaces) {
          // A database stands for all of its collections.
          if (namespace.equals(concerned) || namespace.startsWith(concerned + ".")) {
            changed.add(namespace);
          }
        }
      }
    }
    boolean first = !looked;
    looked = true;
    seen = ids;
    if (first) {
      return Set.of();
    }
    // More has happened than was read: any of them may be concerned.
    return reachesBack ? changed : namespaces;
  }

  private static String text(BsonDocument entry, String field) {
    return entry.getString(field, new BsonString("")).getValue();
  }
}
