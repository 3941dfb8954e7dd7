/**
 * The servers of the shards and of the config replica set: their addresses, the versions in
 * commands, and the cluster time.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.shards.cluster;

import org.jspecify.annotations.NullMarked;
