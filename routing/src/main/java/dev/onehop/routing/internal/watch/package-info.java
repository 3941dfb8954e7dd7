/** Watches servers, with official clients that are there for nothing else. */
@NullMarked
package dev.onehop.routing.internal.watch;

import org.jspecify.annotations.NullMarked;
