/** Servers in containers, using Testcontainers. */
@NullMarked
package dev.onehop.testbed.internal.docker;

import org.jspecify.annotations.NullMarked;
