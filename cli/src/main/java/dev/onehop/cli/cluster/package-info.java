/** Reads a sharded cluster's metadata for people. */
@NullMarked
package dev.onehop.cli.cluster;

import org.jspecify.annotations.NullMarked;
