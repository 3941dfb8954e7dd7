/**
 * Shard key patterns and routing tables, which contain the owner of each range of a collection's
 * keys.
 */
@NullMarked
package dev.onehop.core.table;

import org.jspecify.annotations.NullMarked;
