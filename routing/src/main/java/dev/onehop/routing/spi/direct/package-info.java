/**
 * Direct mode: does with a client's command what a mongos does with it, and sends it, versioned, to
 * the shards' own servers. {@link dev.onehop.routing.spi.direct.ClusterRouter} is where to begin;
 * what a command has to do with one shard is in {@code shard}, with several in {@code cursor}.
 *
 * <p>For the project's own testbed, benchmarks and tools. It may change in any release.
 */
@NullMarked
package dev.onehop.routing.spi.direct;

import org.jspecify.annotations.NullMarked;
