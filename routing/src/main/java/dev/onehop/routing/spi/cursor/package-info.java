/**
 * Cursors over several shards, and how a client's getMore and killCursors find them again.
 *
 * <p>For the project's own testbed, benchmarks and tools. It may change in any release.
 */
@NullMarked
package dev.onehop.routing.spi.cursor;

import org.jspecify.annotations.NullMarked;
