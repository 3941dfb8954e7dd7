/**
 * Routed clients with settings that {@link dev.onehop.routing.OneHop} does not offer.
 *
 * <p>The package is only for the project's own testbed, benchmarks and tools. It may change in any
 * release.
 */
@NullMarked
package dev.onehop.routing.setup;

import org.jspecify.annotations.NullMarked;
