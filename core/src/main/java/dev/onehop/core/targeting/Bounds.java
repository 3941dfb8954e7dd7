package dev.onehop.core.targeting;

/**
 * What a condition on one field says of its key: outside {@code may} no document matches; inside
 * {@code must} every document does. Together they survive negation.
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

  Bounds not() {
    return new Bounds(must.complement(), may.complement());
  }
}
