/**
 * Determines the chunks that an operation can touch. The result may contain too many chunks, never
 * too few.
 */
@NullMarked
package dev.onehop.core.targeting;

import org.jspecify.annotations.NullMarked;
