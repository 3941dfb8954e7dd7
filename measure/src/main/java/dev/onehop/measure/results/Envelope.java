package dev.onehop.measure.results;

import org.jspecify.annotations.Nullable;

/**
 * What every {@code results.json} says besides its figures; its parts stand at the top level of the
 * file. Immutable.
 *
 * @param run how the run was made; null in a file that says nothing of it
 * @param topology where was measured
 * @param server which servers ran
 * @param machine which machine and software it ran on; null in a file that says nothing of it
 */
public record Envelope(
    @Nullable RunFacts run,
    TopologyFacts topology,
    ServerFacts server,
    @Nullable MachineFacts machine) {}
