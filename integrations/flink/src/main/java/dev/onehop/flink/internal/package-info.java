/** The parts of the source: splits, who assigns them and who reads them. */
@NullMarked
package dev.onehop.flink.internal;

import org.jspecify.annotations.NullMarked;
