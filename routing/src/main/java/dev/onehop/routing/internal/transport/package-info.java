/** Lanes over shared sockets: the machinery of {@link dev.onehop.routing.transport}. */
@NullMarked
package dev.onehop.routing.internal.transport;

import org.jspecify.annotations.NullMarked;
