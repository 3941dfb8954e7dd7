/**
 * Access to a sharded cluster for direct clients of its shards.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.shards;

import org.jspecify.annotations.NullMarked;
