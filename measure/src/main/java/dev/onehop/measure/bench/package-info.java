/** The bench: plans the points, runs each as a YCSB process against a testbed, collects results. */
@NullMarked
package dev.onehop.measure.bench;

import org.jspecify.annotations.NullMarked;
