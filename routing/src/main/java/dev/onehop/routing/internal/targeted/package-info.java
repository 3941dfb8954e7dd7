/**
 * Targeted mode: {@link dev.onehop.routing.internal.targeted.TargetedRouter} sends each command of
 * the virtual mongos to the mongos near the shard that owns the data.
 */
@NullMarked
package dev.onehop.routing.internal.targeted;

import org.jspecify.annotations.NullMarked;
