package dev.onehop.shards.request;

/**
 * The result of the check at the start of a router.
 *
 * @param hasMongos whether the seeds are mongoses, which can execute commands for several shards
 * @param serverVersion the version of the seeds, such as {@code 6.0.5}
 * @param maxWireVersion the highest wire version that the seeds and all shards support
 */
public record ClusterFacts(boolean hasMongos, String serverVersion, int maxWireVersion) {}
