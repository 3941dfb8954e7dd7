/**
 * A router as its clients see it: requests come one at a time and end in a {@link
 * dev.onehop.routing.spi.router.CommandRouter}.
 */
@NullMarked
package dev.onehop.routing.internal.router;

import org.jspecify.annotations.NullMarked;
