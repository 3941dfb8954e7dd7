/** Merging change streams of shards, and splitting them into channels. */
@NullMarked
package dev.onehop.jmh.streams;

import org.jspecify.annotations.NullMarked;
