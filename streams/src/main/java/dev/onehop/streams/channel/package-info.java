/** Change streams consumed in parallel, in order within each channel. */
@NullMarked
package dev.onehop.streams.channel;

import org.jspecify.annotations.NullMarked;
