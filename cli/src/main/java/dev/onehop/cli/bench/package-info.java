/** The bench: plans the points, runs each as a YCSB process against a testbed, collects results. */
@NullMarked
package dev.onehop.cli.bench;

import org.jspecify.annotations.NullMarked;
