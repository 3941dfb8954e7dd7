package dev.onehop.core.targeting;

/**
 * The effect of a condition on one field's key. Outside {@code may}, no document matches. Inside
 * {@code must}, every document matches. Negation exchanges the two sets, as complements.
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
