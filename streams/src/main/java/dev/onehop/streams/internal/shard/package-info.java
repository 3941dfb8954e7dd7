/** Reads the change streams of shards, and the placement of data. */
@NullMarked
package dev.onehop.streams.internal.shard;

import org.jspecify.annotations.NullMarked;
