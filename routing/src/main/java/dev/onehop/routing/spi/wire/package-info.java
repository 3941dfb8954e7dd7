/**
 * Messages of the MongoDB wire protocol, and what carries them: addresses, event loops, channels.
 *
 * <p>For the project's own testbed, benchmarks and tools. It may change in any release.
 */
@NullMarked
package dev.onehop.routing.spi.wire;

import org.jspecify.annotations.NullMarked;
