/**
 * The connections of clients to a router. Requests arrive one at a time, and a {@link
 * dev.onehop.shards.request.CommandRouter} executes them.
 */
@NullMarked
package dev.onehop.routing.internal.router;

import org.jspecify.annotations.NullMarked;
