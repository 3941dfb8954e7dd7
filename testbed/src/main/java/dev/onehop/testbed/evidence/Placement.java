package dev.onehop.testbed.evidence;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Where a collection's documents lie, against where they belong. Orphans that a finished migration
 * has left count as misplaced until the server has deleted them.
 *
 * @param stored by shard, the documents it holds
 * @param owned by shard, how many of these it shows to a versioned query: its own view of what it
 *     owns
 * @param misplaced how many lie on a shard that does not own them, by config.chunks
 * @param examples some of the misplaced ones, described
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

  /** Whether every document lies on its owner, and the shards agree with that. */
  public boolean isRight() {
    return misplaced == 0 && stored.equals(owned);
  }

  /** Documents on all shards together. */
  public long documents() {
    return stored.values().stream().mapToLong(Long::longValue).sum();
  }
}
