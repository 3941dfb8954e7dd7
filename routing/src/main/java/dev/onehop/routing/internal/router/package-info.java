/**
 * A router as its clients see it: requests come one at a time, over a socket or in process, and end
 * in direct mode, whose servers the official driver watches.
 */
@NullMarked
package dev.onehop.routing.internal.router;

import org.jspecify.annotations.NullMarked;
