package dev.onehop.copy.internal.apply;

import dev.onehop.copy.internal.state.Fence;

/**
 * A channel in one term of this process.
 *
 * @param lane the state of the channel's documents
 * @param writes the lane of the fence in which the channel writes
 * @param turns lets the channel's plans and writes run one after another, also a write of this
 *     channel's documents by another channel
 */
record Tenure(Lane lane, Fence.Lane writes, Turns turns) {}
