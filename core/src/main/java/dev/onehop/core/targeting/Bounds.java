package dev.onehop.core.targeting;

/**
 * The keys that a condition on one field can match. A document whose key is outside {@code may}
 * never matches. A document whose key is inside {@code must} always matches.
 */
record Bounds(IntervalSet may, IntervalSet must) {
  static final Bounds UNDECIDED = new Bounds(IntervalSet.ALL, IntervalSet.NONE);
  static final Bounds NOTHING = new Bounds(IntervalSet.NONE, IntervalSet.NONE);

  /** Matches exactly these keys. */
  static Bounds exactly(IntervalSet set) {
    return new Bounds(set, set);
  }

  /** Matches some of these keys, and no others. */
  static Bounds within(IntervalSet set) {
    return new Bounds(set, IntervalSet.NONE);
  }

  Bounds and(Bounds other) {
    return new Bounds(may.and(other.may), must.and(other.must));
  }

  /** Negates the condition: a key that always matched never matches, and the reverse. */
  Bounds not() {
    return new Bounds(must.complement(), may.complement());
  }
}
