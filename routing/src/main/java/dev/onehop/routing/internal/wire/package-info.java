/**
 * Connections to servers: of their own or shared, on event loops or for threads that wait, in
 * pools.
 */
@NullMarked
package dev.onehop.routing.internal.wire;

import org.jspecify.annotations.NullMarked;
