package dev.onehop.flink.internal;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.connector.source.SourceEvent;
import org.jspecify.annotations.Nullable;

/** From the enumerator to the readers: up to where all splits are known. */
final class Placed implements SourceEvent {
  private static final long serialVersionUID = 1L;

  private final @Nullable String through;
  private final HashMap<String, String> leaving;

  /**
   * @param through {@code _data} of a token: every split that has events up to there is assigned;
   *     null if there will be no other split
   * @param leaving by shard the token after its last event
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
