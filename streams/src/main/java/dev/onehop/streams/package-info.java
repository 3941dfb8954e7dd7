/**
 * Change streams that are opened on each shard and merged in this process. {@link
 * dev.onehop.streams.ShardedChangeStream} is the entry point.
 */
@NullMarked
package dev.onehop.streams;

import org.jspecify.annotations.NullMarked;
