/** What the observations of targeted and direct mode share. */
@NullMarked
package dev.onehop.routing.internal.observation;

import org.jspecify.annotations.NullMarked;
