/** What a copy keeps at its destination, so that it goes on after its end. */
@NullMarked
package dev.onehop.copy.internal.state;

import org.jspecify.annotations.NullMarked;
