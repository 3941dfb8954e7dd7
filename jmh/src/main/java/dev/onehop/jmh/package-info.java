/** The benchmarks' entry point. */
@NullMarked
package dev.onehop.jmh;

import org.jspecify.annotations.NullMarked;
