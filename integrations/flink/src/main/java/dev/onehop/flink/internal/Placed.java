package dev.onehop.flink.internal;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.connector.source.SourceEvent;
import org.jspecify.annotations.Nullable;

/**
 * A message from the enumerator to the readers: all splits with events up to a position are
 * assigned.
 */
final class Placed implements SourceEvent {
  private static final long serialVersionUID = 1L;

  private final @Nullable String through;
  private final HashMap<String, String> leaving;

  /**
   * @param through {@code _data} of a token: every split with events up to this token is assigned;
   *     null if there will be no other split
   * @param leaving the bound of each removed shard by its id: {@code _data} of a token after all
   *     events of the shard
   */
  Placed(@Nullable String through, Map<String, String> leaving) {
    this.through = through;
    this.leaving = new HashMap<>(leaving);
  }

  @Nullable String through() {
    return through;
  }

  @Nullable String bound(ShardSplit split) {
    return leaving.get(split.shard());
  }
}
