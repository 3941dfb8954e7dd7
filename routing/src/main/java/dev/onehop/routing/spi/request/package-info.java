/**
 * A client's connection to a router: its requests are executed one at a time.
 *
 * <p>For the project's own testbed, benchmarks and tools. It may change in any release.
 */
@NullMarked
package dev.onehop.routing.spi.request;

import org.jspecify.annotations.NullMarked;
