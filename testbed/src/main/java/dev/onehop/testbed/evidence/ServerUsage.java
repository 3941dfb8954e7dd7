package dev.onehop.testbed.evidence;

/**
 * The present resource use of a testbed's server, as the operating system reports it.
 *
 * @param server the address of the server, as {@code host:port}
 * @param host the name of the server's host
 * @param router whether the server is a router; false for a config server or a shard's member
 * @param sockets the number of established connections to the server, of all clients
 * @param residentBytes the memory of the server's process that is in use (RSS)
 */
public record ServerUsage(
    String server, String host, boolean router, int sockets, long residentBytes) {}
