package dev.onehop.copy.progress;

/** The phases of a copy, in their order. */
public enum CopyPhase {
  /** Connects and checks whether the copy may begin. */
  START,
  /** Creates databases and collections, shards and splits them. */
  STRUCTURE,
  /** Copies the documents, range by range. */
  FULL,
  /** Builds indexes. */
  INDEXES,
  /** Applies the changes since the start. */
  INCREMENTAL,
  /** Applies the rest and builds the indexes that come last. */
  FINISH,
  /** All phases of the settings are done. */
  DONE
}
