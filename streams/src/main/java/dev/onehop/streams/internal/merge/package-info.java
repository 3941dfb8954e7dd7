/** Merges the streams of several shards into one, without any I/O of its own. */
@NullMarked
package dev.onehop.streams.internal.merge;

import org.jspecify.annotations.NullMarked;
