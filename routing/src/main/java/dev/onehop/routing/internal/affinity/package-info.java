/** Which mongos stands beside which shard. */
@NullMarked
package dev.onehop.routing.internal.affinity;

import org.jspecify.annotations.NullMarked;
