/**
 * A real sharded MongoDB cluster on one machine, with regions and round trips between its parts.
 *
 * <p>{@link dev.onehop.testbed.topology.Topology} lists the hosts with their regions and servers.
 * {@link dev.onehop.testbed.Testbed} starts the servers. This works only on Linux: hosts are
 * loopback addresses 127.x.y.z, and {@code /proc} shows the process that opened a connection.
 */
@NullMarked
package dev.onehop.testbed;

import org.jspecify.annotations.NullMarked;
