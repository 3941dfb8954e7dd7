/** Change streams whose events are processed in parallel channels, in order within each channel. */
@NullMarked
package dev.onehop.streams.channel;

import org.jspecify.annotations.NullMarked;
