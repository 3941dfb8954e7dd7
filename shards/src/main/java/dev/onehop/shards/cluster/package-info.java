/**
 * The servers of the shards and of the config replica set, as direct mode speaks to them: which
 * there are, what versions a command carries to them, and what time it is.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.shards.cluster;

import org.jspecify.annotations.NullMarked;
