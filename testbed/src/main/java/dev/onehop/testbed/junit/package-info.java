/**
 * A sharded cluster for JUnit tests.
 *
 * @see dev.onehop.testbed.junit.ShardedCluster
 */
@NullMarked
package dev.onehop.testbed.junit;

import org.jspecify.annotations.NullMarked;
