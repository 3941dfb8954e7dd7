package dev.onehop.copy.progress;

/** Kinds of changes of the source that are applied, or left out. */
public enum CopyOperation {
  INSERT,
  /** Updates and replacements. A missing document is inserted at the destination. */
  UPDATE,
  DELETE,
  /** Changes of more than a document, such as {@code drop} or the build of an index. */
  DDL
}
