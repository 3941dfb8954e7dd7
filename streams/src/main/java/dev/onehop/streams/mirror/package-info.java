/** Writes of a collection's changes to another collection. */
@NullMarked
package dev.onehop.streams.mirror;

import org.jspecify.annotations.NullMarked;
