/** Copies a cluster that receives writes, and compares two clusters. */
@NullMarked
package dev.onehop.copy;

import org.jspecify.annotations.NullMarked;
