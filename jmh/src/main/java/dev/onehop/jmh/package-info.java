/** The entry point of the benchmarks. */
@NullMarked
package dev.onehop.jmh;

import org.jspecify.annotations.NullMarked;
