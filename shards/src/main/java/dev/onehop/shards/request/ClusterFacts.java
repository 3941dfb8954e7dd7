package dev.onehop.shards.request;

/**
 * What was found at the start.
 *
 * @param hasMongos whether the seeds are mongoses, to which commands can be handed over
 * @param serverVersion the version of the seeds, such as {@code 6.0.5}
 * @param maxWireVersion the highest wire version that the seeds and all shards speak
 */
public record ClusterFacts(boolean hasMongos, String serverVersion, int maxWireVersion) {}
