/** The implementation of copies. */
@NullMarked
package dev.onehop.copy.internal;

import org.jspecify.annotations.NullMarked;
