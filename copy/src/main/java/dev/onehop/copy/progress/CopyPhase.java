package dev.onehop.copy.progress;

/** What a copy is doing, in this order. */
public enum CopyPhase {
  /** Connects and looks whether it may begin. */
  START,
  /** Creates databases and collections, shards and splits them. */
  STRUCTURE,
  /** Copies the documents, range by range. */
  FULL,
  /** Builds indexes. */
  INDEXES,
  /** Applies what changed since the start. */
  INCREMENTAL,
  /** Applies the rest and builds the indexes that come last. */
  FINISH,
  /** Has done what it was asked for. */
  DONE
}
