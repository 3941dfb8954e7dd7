package dev.onehop.copy.internal.apply;

import dev.onehop.copy.internal.state.Fence;

/**
 * A channel in one term.
 *
 * @param lane what is known of its documents
 * @param writes where it writes
 * @param turns in which it plans and writes: also for other channels that wait for its documents
 */
record Tenure(Lane lane, Fence.Lane writes, Turns turns) {}
