/** What a router tells of its decisions: meters, observations and explanations. */
@NullMarked
package dev.onehop.routing.observation;

import org.jspecify.annotations.NullMarked;
