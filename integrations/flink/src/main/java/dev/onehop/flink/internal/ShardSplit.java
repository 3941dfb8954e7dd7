package dev.onehop.flink.internal;

import org.apache.flink.api.connector.source.SourceSplit;
import org.jspecify.annotations.Nullable;

/**
 * A shard or a range of its documents, and the position up to which it was read.
 *
 * @param shard the shard's id
 * @param part the number of the range, from 0
 * @param parts the number of ranges of the shard
 * @param after {@code _data} of the token up to which the events were emitted
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
   * Whether all events of the split were emitted.
   *
   * @param bound {@code _data} of a token after which the shard has no events; null if unknown
   */
  boolean isOver(@Nullable String bound) {
    return bound != null && after.compareTo(bound) >= 0;
  }
}
