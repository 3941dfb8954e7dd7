/**
 * Targeted mode: {@link dev.onehop.routing.internal.targeted.TargetedRouter} sends each command of
 * the virtual mongos to the mongos beside the shard that owns what it touches.
 */
@NullMarked
package dev.onehop.routing.internal.targeted;

import org.jspecify.annotations.NullMarked;
