/**
 * A client's commands and what routes them: {@link dev.onehop.routing.spi.router.CommandRouter}
 * stands behind a client's connection, whichever servers it sends the commands to.
 *
 * <p>For the project's own testbed, benchmarks and tools. It may change in any release.
 */
@NullMarked
package dev.onehop.routing.spi.router;

import org.jspecify.annotations.NullMarked;
