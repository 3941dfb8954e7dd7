/**
 * The metadata of the cluster, and the routing tables that are built from them.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.shards.catalog;

import org.jspecify.annotations.NullMarked;
