package dev.onehop.flink.internal;

import org.apache.flink.api.connector.source.SourceEvent;
import org.jspecify.annotations.Nullable;

/** A message to the enumerator: all events of a split were emitted. */
final class SplitEnded implements SourceEvent {
  private static final long serialVersionUID = 1L;

  private final String splitId;
  private final @Nullable String invalidated;

  /**
   * @param invalidated {@code _data} of the token of the event that ends the whole stream; null if
   *     the split has ended because its shard was removed
   */
  SplitEnded(String splitId, @Nullable String invalidated) {
    this.splitId = splitId;
    this.invalidated = invalidated;
  }

  String splitId() {
    return splitId;
  }

  @Nullable String invalidated() {
    return invalidated;
  }
}
