/** Reads the change streams of shards, and the placement of data from the config servers. */
@NullMarked
package dev.onehop.streams.internal.shard;

import org.jspecify.annotations.NullMarked;
