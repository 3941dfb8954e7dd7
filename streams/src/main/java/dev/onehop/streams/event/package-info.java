/** The elements of change streams, and positions in the streams. */
@NullMarked
package dev.onehop.streams.event;

import org.jspecify.annotations.NullMarked;
