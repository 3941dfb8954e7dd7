/** Forming a sharded cluster with the servers' own commands, and placing data on it. */
@NullMarked
package dev.onehop.testbed.internal.cluster;

import org.jspecify.annotations.NullMarked;
