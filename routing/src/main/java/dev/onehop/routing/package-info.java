/**
 * What an application embeds: {@link dev.onehop.routing.OneHop} builds a {@code MongoClient} that
 * sends each operation to the {@code mongos} beside the shard that owns the data.
 */
@NullMarked
package dev.onehop.routing;

import org.jspecify.annotations.NullMarked;
