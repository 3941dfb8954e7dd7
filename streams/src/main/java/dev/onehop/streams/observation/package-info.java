/** The meters of change streams. */
@NullMarked
package dev.onehop.streams.observation;

import org.jspecify.annotations.NullMarked;
