/** The meters and the listener of change streams. */
@NullMarked
package dev.onehop.streams.observation;

import org.jspecify.annotations.NullMarked;
