/**
 * A client's connection to a router: its requests are executed one at a time.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.shards.request;

import org.jspecify.annotations.NullMarked;
