package dev.onehop.testbed.evidence;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A comparison of the shards that store a collection's documents with the shards that own them.
 * Orphans of a migration count as misplaced until the server has deleted them.
 *
 * @param stored the number of stored documents by shard
 * @param owned the number of documents that a versioned query returns, by shard; a shard leaves out
 *     documents that it does not own according to its own metadata
 * @param misplaced the number of documents on a shard that does not own them according to
 *     config.chunks
 * @param examples descriptions of some misplaced documents
 */
public record Placement(
    SortedMap<String, Long> stored,
    SortedMap<String, Long> owned,
    long misplaced,
    List<String> examples) {
  public Placement {
    stored = Collections.unmodifiableSortedMap(new TreeMap<>(stored));
    owned = Collections.unmodifiableSortedMap(new TreeMap<>(owned));
    examples = List.copyOf(examples);
  }

  /** Whether every document is on its owner, and the shards' own metadata says so, too. */
  public boolean isRight() {
    return misplaced == 0 && stored.equals(owned);
  }

  /** The number of stored documents of all shards together. */
  public long documents() {
    return stored.values().stream().mapToLong(Long::longValue).sum();
  }
}
