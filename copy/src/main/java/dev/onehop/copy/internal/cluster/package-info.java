/** Access to the two clusters of a copy. */
@NullMarked
package dev.onehop.copy.internal.cluster;

import org.jspecify.annotations.NullMarked;
