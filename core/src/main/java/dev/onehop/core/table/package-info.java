/** Shard key patterns, and routing tables: which shard owns which range of a collection's keys. */
@NullMarked
package dev.onehop.core.table;

import org.jspecify.annotations.NullMarked;
