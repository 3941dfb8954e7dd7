/** The YCSB workload as a benchmark, by mode and number of threads. */
@NullMarked
package dev.onehop.jmh.workload;

import org.jspecify.annotations.NullMarked;
