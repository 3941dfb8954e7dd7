package dev.onehop.copy.progress;

/** The phases of a copy, in their order. */
public enum CopyPhase {
  /** Connects and checks whether the copy may begin. */
  START,
  /** Creates databases and collections, shards the collections and splits their ranges. */
  STRUCTURE,
  /** Copies the documents, range by range. */
  FULL,
  /** Builds indexes. */
  INDEXES,
  /** Applies the changes of the source since the start of the copy. */
  INCREMENTAL,
  /** Applies the last changes, and builds the unique indexes and the indexes with an expiry. */
  FINISH,
  /** All phases of the settings are done. */
  DONE
}
