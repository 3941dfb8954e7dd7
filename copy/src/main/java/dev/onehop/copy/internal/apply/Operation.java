package dev.onehop.copy.internal.apply;

/** Kinds of events that are applied, or left out. */
public enum Operation {
  INSERT,
  /** Updates and replacements. */
  UPDATE,
  DELETE,
  /** What concerns more than a document, such as {@code drop}. */
  DDL
}
