/** Gives a replica set a new member, logically or by copying files. */
@NullMarked
package dev.onehop.resync;

import org.jspecify.annotations.NullMarked;
