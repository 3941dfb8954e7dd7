/** The zones that an application prefers. */
@NullMarked
package dev.onehop.routing.internal.zones;

import org.jspecify.annotations.NullMarked;
