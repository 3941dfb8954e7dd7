/**
 * Change streams that read from each shard directly and are merged in this process. {@link
 * dev.onehop.streams.ShardedChangeStream} is the entry point.
 */
@NullMarked
package dev.onehop.streams;

import org.jspecify.annotations.NullMarked;
