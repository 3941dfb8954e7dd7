/** Finding or downloading the server binaries. */
@NullMarked
package dev.onehop.testbed.internal.binaries;

import org.jspecify.annotations.NullMarked;
