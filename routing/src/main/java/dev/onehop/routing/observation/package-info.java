/** Information on routing decisions: meters, observations and explanations. */
@NullMarked
package dev.onehop.routing.observation;

import org.jspecify.annotations.NullMarked;
