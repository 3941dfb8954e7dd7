/** Meters that both modes have. */
@NullMarked
package dev.onehop.routing.internal.metrics;

import org.jspecify.annotations.NullMarked;
