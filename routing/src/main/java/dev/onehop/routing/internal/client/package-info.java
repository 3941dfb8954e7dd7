/** The official client interfaces, implemented with routing. */
@NullMarked
package dev.onehop.routing.internal.client;

import org.jspecify.annotations.NullMarked;
