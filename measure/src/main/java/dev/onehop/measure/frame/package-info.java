/** The common parts of all benches: sessions, clusters, child processes, samplers. */
@NullMarked
package dev.onehop.measure.frame;

import org.jspecify.annotations.NullMarked;
