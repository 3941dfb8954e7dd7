/** Which mongos stands beside which shard, and the clients that lead there. */
@NullMarked
package dev.onehop.routing.internal.affinity;

import org.jspecify.annotations.NullMarked;
