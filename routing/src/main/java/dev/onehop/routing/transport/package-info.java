/**
 * A pipelined transport below the official driver: many requests in flight on few sockets. Usable
 * with or without routing.
 */
@NullMarked
package dev.onehop.routing.transport;

import org.jspecify.annotations.NullMarked;
