/** Forms a sharded cluster with the servers' own commands, and distributes data over it. */
@NullMarked
package dev.onehop.testbed.internal.cluster;

import org.jspecify.annotations.NullMarked;
