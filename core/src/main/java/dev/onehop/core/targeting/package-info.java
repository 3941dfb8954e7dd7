/**
 * From an operation to the chunks it can touch. The answer may name a chunk too many, never one too
 * few.
 */
@NullMarked
package dev.onehop.core.targeting;

import org.jspecify.annotations.NullMarked;
