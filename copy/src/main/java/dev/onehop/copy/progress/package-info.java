/** The progress of a copy, and the exception of a copy that can't begin or continue. */
@NullMarked
package dev.onehop.copy.progress;

import org.jspecify.annotations.NullMarked;
