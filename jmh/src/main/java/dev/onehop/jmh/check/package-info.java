/**
 * Bars, which are the least speeds of benchmarks relative to baselines, and the run that checks
 * them.
 */
@NullMarked
package dev.onehop.jmh.check;

import org.jspecify.annotations.NullMarked;
