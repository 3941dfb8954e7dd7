/** Compares two clusters, also while one follows the other. */
@NullMarked
package dev.onehop.copy;

import org.jspecify.annotations.NullMarked;
