/** The meters and observations of targeted and direct mode. */
@NullMarked
package dev.onehop.routing.internal.metrics;

import org.jspecify.annotations.NullMarked;
