/**
 * The clients' open cursors, and the cursors at the servers from which their documents come.
 *
 * <p>Not part of the API: for OneHop's own modules. It may change in any release.
 */
@NullMarked
package dev.onehop.shards.cursor;

import org.jspecify.annotations.NullMarked;
