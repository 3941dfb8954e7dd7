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
   * @param through {@code _data} of a token. All splits with events up to this token are assigned.
   *     Null if all splits are assigned and no other split will follow
   * @param leaving the end of each removed shard's stream, by the shard's id: {@code _data} of a
   *     token. The shard has no events after this token
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
