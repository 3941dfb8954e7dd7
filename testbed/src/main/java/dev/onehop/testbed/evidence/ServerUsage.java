package dev.onehop.testbed.evidence;

/**
 * What a server of a testbed occupies at a moment, by the operating system's account.
 *
 * @param server its address, as {@code host:port}
 * @param host the name of its host
 * @param router whether it is a router, and not a config server or a shard's member
 * @param sockets connections to it that are established, of all clients
 * @param residentBytes memory of its process that is in use (RSS)
 */
public record ServerUsage(
    String server, String host, boolean router, int sockets, long residentBytes) {}
