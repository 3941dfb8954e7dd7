/**
 * A real sharded MongoDB cluster on one machine, with regions and round trips between its parts.
 *
 * <p>{@link dev.onehop.testbed.topology.Topology} says which hosts there are, where they stand and
 * what they run; {@link dev.onehop.testbed.Testbed} starts it. Linux only: hosts are loopback
 * addresses 127.x.y.z, and who opens a connection is read from {@code /proc}.
 */
@NullMarked
package dev.onehop.testbed;

import org.jspecify.annotations.NullMarked;
