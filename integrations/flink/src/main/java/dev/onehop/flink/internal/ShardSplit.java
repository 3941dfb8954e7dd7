package dev.onehop.flink.internal;

import org.apache.flink.api.connector.source.SourceSplit;
import org.jspecify.annotations.Nullable;

/**
 * A shard, or a range of its documents, and up to where it was read.
 *
 * @param shard its id
 * @param part from 0
 * @param parts how many ranges the shard has
 * @param after {@code _data} of the token up to which the events were given
 */
public record ShardSplit(String shard, int part, int parts, String after) implements SourceSplit {

  @Override
  public String splitId() {
    return shard + "/" + part + "/" + parts;
  }

  static String shardOf(String splitId) {
    int end = splitId.lastIndexOf('/', splitId.lastIndexOf('/') - 1);
    return splitId.substring(0, end);
  }

  ShardSplit at(String token) {
    return new ShardSplit(shard, part, parts, token);
  }

  /**
   * Whether it has given everything.
   *
   * @param bound {@code _data} of a token: the shard has nothing after it; null if it may have
   */
  boolean isOver(@Nullable String bound) {
    return bound != null && after.compareTo(bound) >= 0;
  }
}
