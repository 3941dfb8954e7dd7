/** Reads change streams of shards, and where data is placed. */
@NullMarked
package dev.onehop.streams.internal.shard;

import org.jspecify.annotations.NullMarked;
