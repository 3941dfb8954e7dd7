/** Finds the mongoses near each shard. */
@NullMarked
package dev.onehop.routing.internal.affinity;

import org.jspecify.annotations.NullMarked;
