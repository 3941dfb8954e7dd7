/** Copies the documents of collections, range by range. */
@NullMarked
package dev.onehop.copy.internal.full;

import org.jspecify.annotations.NullMarked;
