/**
 * What an application embeds: {@link dev.onehop.routing.OneHop} is a router below the official
 * drivers, which sends each operation to the {@code mongos} beside the shard that owns the data, or
 * to the shard itself.
 */
@NullMarked
package dev.onehop.routing;

import org.jspecify.annotations.NullMarked;
