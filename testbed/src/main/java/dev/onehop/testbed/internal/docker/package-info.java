/** Servers in containers, by way of Testcontainers. */
@NullMarked
package dev.onehop.testbed.internal.docker;

import org.jspecify.annotations.NullMarked;
