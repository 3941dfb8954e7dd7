/**
 * YCSB bindings for MongoDB: the official sync driver ({@code legacy}), the official reactive
 * driver ({@code async}), and both behind OneHop ({@code targeted-sync}, {@code targeted-async},
 * {@code direct-sync}, {@code direct-async}).
 *
 * <p>The bindings differ only in the client that they open, so a difference between their results
 * comes from the client.
 */
@NullMarked
package dev.onehop.ycsb;

import org.jspecify.annotations.NullMarked;
