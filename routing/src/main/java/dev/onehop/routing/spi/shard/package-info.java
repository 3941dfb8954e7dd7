/**
 * The servers of the shards and of the config replica set, as direct mode speaks to them: which
 * there are, what versions a command carries to them, what time it is, and what their errors mean.
 *
 * <p>For the project's own testbed, benchmarks and tools. It may change in any release.
 */
@NullMarked
package dev.onehop.routing.spi.shard;

import org.jspecify.annotations.NullMarked;
