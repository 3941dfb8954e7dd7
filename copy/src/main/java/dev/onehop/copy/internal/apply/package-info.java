/** Applies the change events of a source to a destination. */
@NullMarked
package dev.onehop.copy.internal.apply;

import org.jspecify.annotations.NullMarked;
