/** Copies a cluster while it is written to, and compares two clusters. */
@NullMarked
package dev.onehop.copy;

import org.jspecify.annotations.NullMarked;
