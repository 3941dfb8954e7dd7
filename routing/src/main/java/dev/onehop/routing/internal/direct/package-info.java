/**
 * Direct mode: {@link dev.onehop.routing.internal.direct.DirectRouter} sends commands straight to
 * the shards.
 */
@NullMarked
package dev.onehop.routing.internal.direct;

import org.jspecify.annotations.NullMarked;
