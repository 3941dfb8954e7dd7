/** Change streams of each shard as a source of Apache Flink. */
@NullMarked
package dev.onehop.flink;

import org.jspecify.annotations.NullMarked;
