/**
 * A real sharded MongoDB cluster on one machine, with regions and round trips between its parts.
 *
 * <p>{@link dev.onehop.testbed.topology.Topology} lists the hosts with their places and servers;
 * {@link dev.onehop.testbed.Testbed} starts it. Linux only: hosts are loopback addresses 127.x.y.z,
 * and the caller of a connection is found in {@code /proc}.
 */
@NullMarked
package dev.onehop.testbed;

import org.jspecify.annotations.NullMarked;
