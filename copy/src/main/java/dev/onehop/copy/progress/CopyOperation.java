package dev.onehop.copy.progress;

/** Kinds of changes of the source that are applied, or left out. */
public enum CopyOperation {
  INSERT,
  /** Updates and replacements. A document that is not at the destination is put there. */
  UPDATE,
  DELETE,
  /** What concerns more than a document, such as {@code drop} or the build of an index. */
  DDL
}
