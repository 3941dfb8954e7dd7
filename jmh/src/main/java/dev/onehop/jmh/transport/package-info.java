/** Microbenchmarks of the wire codec and the pipelined transport. */
@NullMarked
package dev.onehop.jmh.transport;

import org.jspecify.annotations.NullMarked;
