/** Merges the streams of several shards into one. The package does no I/O. */
@NullMarked
package dev.onehop.streams.internal.merge;

import org.jspecify.annotations.NullMarked;
