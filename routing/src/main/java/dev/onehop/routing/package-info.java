/**
 * The entry point for applications: {@link dev.onehop.routing.OneHop} is a router below the
 * official drivers. It sends each operation to the {@code mongos} near the shard that owns the
 * data, or to the shard itself.
 */
@NullMarked
package dev.onehop.routing;

import org.jspecify.annotations.NullMarked;
