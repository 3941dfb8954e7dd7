package dev.onehop.copy.internal.apply;

import dev.onehop.copy.internal.state.Fence;

/**
 * A channel in one term of this process.
 *
 * @param lane the state of the channel's documents
 * @param writes the lane of the fence in which the channel writes
 * @param turns runs the channel's plans and writes one after another. If another channel writes
 *     documents of this channel, that write waits for its turn, too
 */
record Tenure(Lane lane, Fence.Lane writes, Turns turns) {}
