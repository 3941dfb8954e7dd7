package dev.onehop.core.targeting;

/**
 * The keys that a condition on one field can match. A document whose key is outside {@code may}
 * never matches. A document whose key is inside {@code must} always matches.
 */
record Bounds(IntervalSet may, IntervalSet must) {
  static final Bounds UNDECIDED = new Bounds(IntervalSet.ALL, IntervalSet.NONE);
  static final Bounds NOTHING = new Bounds(IntervalSet.NONE, IntervalSet.NONE);

  /**
   * The bounds of a condition that matches every document with one of these keys, and no other
   * document.
   */
  static Bounds exactly(IntervalSet set) {
    return new Bounds(set, set);
  }

  /**
   * The bounds of a condition that may match a document with one of these keys, and no other
   * document.
   */
  static Bounds within(IntervalSet set) {
    return new Bounds(set, IntervalSet.NONE);
  }

  Bounds and(Bounds other) {
    return new Bounds(may.and(other.may), must.and(other.must));
  }

  /**
   * The bounds of the negated condition. A key that the condition always matches never matches the
   * negation, and the reverse.
   */
  Bounds not() {
    return new Bounds(must.complement(), may.complement());
  }
}
