/** What this library needs of Reactor beyond its own operators. */
@NullMarked
package dev.onehop.routing.internal.reactor;

import org.jspecify.annotations.NullMarked;
