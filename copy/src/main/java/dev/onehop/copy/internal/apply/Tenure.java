package dev.onehop.copy.internal.apply;

import dev.onehop.copy.internal.state.Fence;

/**
 * A channel in one term of this process.
 *
 * @param lane the state of the channel's documents
 * @param writes the lane of the fence in which the channel writes
 * @param turns the order of the channel's plans and writes; other channels also use it to write
 *     documents of this channel
 */
record Tenure(Lane lane, Fence.Lane writes, Turns turns) {}
