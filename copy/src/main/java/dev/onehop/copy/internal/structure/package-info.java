/**
 * Reads and creates the structure of clusters: databases, collections, indexes, shard keys and
 * zones.
 */
@NullMarked
package dev.onehop.copy.internal.structure;

import org.jspecify.annotations.NullMarked;
