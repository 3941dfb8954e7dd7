package dev.onehop.measure.results;

import org.jspecify.annotations.Nullable;

/**
 * The common part of every {@code results.json}. Its fields are at the top level of the file.
 * Immutable.
 *
 * @param run the facts of the run; null in a file without them
 * @param topology the hosts of the measurement
 * @param server the versions of the servers
 * @param machine the machine and its software; null in a file without them
 */
public record Envelope(
    @Nullable RunFacts run,
    TopologyFacts topology,
    ServerFacts server,
    @Nullable MachineFacts machine) {}
