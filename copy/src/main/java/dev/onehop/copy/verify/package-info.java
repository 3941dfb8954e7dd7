/** Compares two clusters, also while they are written to. */
@NullMarked
package dev.onehop.copy.verify;

import org.jspecify.annotations.NullMarked;
