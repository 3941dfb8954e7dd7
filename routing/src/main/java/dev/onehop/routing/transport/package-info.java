/** Pipelining: many requests in flight on few sockets. What can be set, and what is measured. */
@NullMarked
package dev.onehop.routing.transport;

import org.jspecify.annotations.NullMarked;
