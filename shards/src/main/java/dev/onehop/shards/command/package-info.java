/**
 * Does with a client's command what a mongos does with it, and sends it, versioned, to the shards'
 * own servers. {@link dev.onehop.shards.command.ClusterRouter} is where to begin; what a command
 * has to do with one shard is in {@code cluster}, with several in {@code cursor}.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.shards.command;

import org.jspecify.annotations.NullMarked;
