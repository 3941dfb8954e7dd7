package dev.onehop.copy.progress;

/** The kinds of changes of the source that a copy can apply or leave out. */
public enum CopyOperation {
  INSERT,
  /** Updates and replacements. A missing document is inserted at the destination. */
  UPDATE,
  DELETE,
  /**
   * Changes of collections, databases and indexes, such as {@code drop} or {@code createIndexes}.
   */
  DDL
}
