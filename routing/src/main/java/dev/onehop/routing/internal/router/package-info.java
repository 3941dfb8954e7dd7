/**
 * A router as its clients see it: requests come one at a time and end in a {@link
 * dev.onehop.shards.request.CommandRouter}.
 */
@NullMarked
package dev.onehop.routing.internal.router;

import org.jspecify.annotations.NullMarked;
