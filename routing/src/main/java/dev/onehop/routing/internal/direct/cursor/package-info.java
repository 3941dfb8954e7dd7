/** Cursors over several shards, and how a client's getMore and killCursors find them again. */
@NullMarked
package dev.onehop.routing.internal.direct.cursor;

import org.jspecify.annotations.NullMarked;
