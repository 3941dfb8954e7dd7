/** The parts of a cluster: hosts in regions, shards, and the round trips between them. */
@NullMarked
package dev.onehop.testbed.topology;

import org.jspecify.annotations.NullMarked;
