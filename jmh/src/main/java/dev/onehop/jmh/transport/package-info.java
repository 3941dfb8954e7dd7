/** Microbenchmarks of the wire codec and pipelining. */
@NullMarked
package dev.onehop.jmh.transport;

import org.jspecify.annotations.NullMarked;
