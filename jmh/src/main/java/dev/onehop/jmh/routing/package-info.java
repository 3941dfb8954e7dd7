/** The cost of routing for an operation. */
@NullMarked
package dev.onehop.jmh.routing;

import org.jspecify.annotations.NullMarked;
