/**
 * {@code onehop consume} and {@code onehop propagate}: rows that are written to be seen, streams
 * that read them, and checks that each came once.
 */
@NullMarked
package dev.onehop.measure.delivery;

import org.jspecify.annotations.NullMarked;
