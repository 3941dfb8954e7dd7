/**
 * The MongoDB wire protocol, as much of it as routing needs: OP_MSG framing and plain connections.
 */
@NullMarked
package dev.onehop.routing.internal.wire;

import org.jspecify.annotations.NullMarked;
