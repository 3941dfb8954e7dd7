/** Compares two clusters, also while they receive writes. */
@NullMarked
package dev.onehop.copy.verify;

import org.jspecify.annotations.NullMarked;
