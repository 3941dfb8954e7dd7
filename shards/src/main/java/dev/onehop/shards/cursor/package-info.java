/**
 * Open cursors at servers, which a client's getMore and killCursors refer to.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.shards.cursor;

import org.jspecify.annotations.NullMarked;
