/**
 * Executes a client's command as a mongos does: it sends versioned commands to the shards' servers.
 * {@link dev.onehop.shards.command.ClusterRouter} is the entry point. Commands for one server are
 * in {@code cluster}, cursors in {@code cursor}.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.shards.command;

import org.jspecify.annotations.NullMarked;
