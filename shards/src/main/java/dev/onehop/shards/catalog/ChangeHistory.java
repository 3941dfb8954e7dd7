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
 * Finds the collections that have changed since the last check because a range moved, or the
 * collection was dropped, renamed or resharded. Reads only the newest entries of the change
 * history.
 *
 * <p>Entries are distinguished by their ids, because their times come from the clocks of many
 * servers. Not thread-safe: only one check may run at a time.
 */
public final class ChangeHistory {
  private static final int NEWEST = 30;

  /** The change history is a capped collection, so its natural order is the order of insertion. */
  private static final BsonDocument NEWEST_FIRST = new BsonDocument("$natural", new BsonInt32(-1));

  private static final BsonDocument FIELDS = BsonDocument.parse("{what: 1, ns: 1}");

  /** Entries of the change history after which each range still has the same owner. */
  private static final Set<String> UNIMPORTANT =
      Set.of("split", "multi-split", "merge", "moveChunk.start", "moveChunk.error");

  private final ConfigReader config;
  private Set<BsonValue> seen = Set.of();
  private boolean looked;

  public ChangeHistory(ConfigReader config) {
    this.config = config;
  }

  /**
   * Returns the given collections that have changed since the last check; none at the first check.
   *
   * @param namespaces the collections to check
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
          // An entry may name a database. It then applies to all collections of the database.
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
    // If the last check read none of these entries, there may be new entries that this check has
    // not read. Any of the collections may then have changed.
    return reachesBack ? changed : namespaces;
  }

  private static String text(BsonDocument entry, String field) {
    return entry.getString(field, new BsonString("")).getValue();
  }
}
