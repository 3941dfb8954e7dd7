/**
 * The side of a router that clients see: requests arrive one at a time and end in a {@link
 * dev.onehop.shards.request.CommandRouter}.
 */
@NullMarked
package dev.onehop.routing.internal.router;

import org.jspecify.annotations.NullMarked;
