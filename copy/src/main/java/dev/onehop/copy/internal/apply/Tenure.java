package dev.onehop.copy.internal.apply;

import dev.onehop.copy.internal.state.Fence;

/**
 * A channel in one term.
 *
 * @param lane the state of its documents
 * @param writes the lane of the fence in which it writes
 * @param turns for its plans and writes, and for other channels that wait for its documents
 */
record Tenure(Lane lane, Fence.Lane writes, Turns turns) {}
