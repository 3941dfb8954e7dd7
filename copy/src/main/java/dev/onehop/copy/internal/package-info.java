/** What copying a cluster is made of. */
@NullMarked
package dev.onehop.copy.internal;

import org.jspecify.annotations.NullMarked;
