/** Which mongos stands beside which shard, and which of them are up. */
@NullMarked
package dev.onehop.routing.internal.affinity;

import org.jspecify.annotations.NullMarked;
