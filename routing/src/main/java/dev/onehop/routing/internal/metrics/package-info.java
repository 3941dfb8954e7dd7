/** The meters of both modes. */
@NullMarked
package dev.onehop.routing.internal.metrics;

import org.jspecify.annotations.NullMarked;
