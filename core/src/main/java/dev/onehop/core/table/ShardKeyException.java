package dev.onehop.core.table;

/** A shard key pattern, or a document's shard key, that is invalid in a sharded collection. */
public final class ShardKeyException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  ShardKeyException(String message) {
    super(message);
  }
}
