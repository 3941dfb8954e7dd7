/**
 * A sharded cluster as a client of its shards sees it.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.shards;

import org.jspecify.annotations.NullMarked;
