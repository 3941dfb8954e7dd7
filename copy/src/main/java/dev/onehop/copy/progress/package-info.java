/** How far a copy is, and why it can't go on. */
@NullMarked
package dev.onehop.copy.progress;

import org.jspecify.annotations.NullMarked;
