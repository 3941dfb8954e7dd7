/** Pipelining: many requests in flight on few sockets. Its settings and meters. */
@NullMarked
package dev.onehop.routing.transport;

import org.jspecify.annotations.NullMarked;
