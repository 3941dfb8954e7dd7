/** Adds new members to a replica set, by an initial sync or by a copy of files. */
@NullMarked
package dev.onehop.resync;

import org.jspecify.annotations.NullMarked;
