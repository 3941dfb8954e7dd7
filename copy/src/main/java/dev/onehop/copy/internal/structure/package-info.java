/** Databases, collections, indexes, shard keys and zones. */
@NullMarked
package dev.onehop.copy.internal.structure;

import org.jspecify.annotations.NullMarked;
