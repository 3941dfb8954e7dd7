/** The parts of the source: splits, the enumerator and the readers. */
@NullMarked
package dev.onehop.flink.internal;

import org.jspecify.annotations.NullMarked;
