/** Bars: how fast benchmarks must be beside their baselines, and the run that checks it. */
@NullMarked
package dev.onehop.jmh.check;

import org.jspecify.annotations.NullMarked;
