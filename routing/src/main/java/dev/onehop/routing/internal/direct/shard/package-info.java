/**
 * The servers of the shards and of the config replica set, as direct mode speaks to them: which
 * there are, what versions a command carries to them, what time it is, and what their errors mean.
 */
@NullMarked
package dev.onehop.routing.internal.direct.shard;

import org.jspecify.annotations.NullMarked;
