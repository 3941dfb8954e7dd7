/** Applies the changes of a collection to another collection. */
@NullMarked
package dev.onehop.streams.mirror;

import org.jspecify.annotations.NullMarked;
