/**
 * Direct mode: does with a client's command what a mongos does with it, and sends it, versioned, to
 * the shards' own servers.
 */
@NullMarked
package dev.onehop.routing.internal.direct;

import org.jspecify.annotations.NullMarked;
