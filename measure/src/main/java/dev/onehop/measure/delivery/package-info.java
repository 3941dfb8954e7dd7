/**
 * {@code onehop consume} and {@code onehop propagate}: writers of rows, streams that read them, and
 * checks that each row arrived once.
 */
@NullMarked
package dev.onehop.measure.delivery;

import org.jspecify.annotations.NullMarked;
