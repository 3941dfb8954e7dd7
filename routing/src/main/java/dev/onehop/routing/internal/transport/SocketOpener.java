package dev.onehop.routing.internal.transport;

/** Opens real sockets; what happens on one is told to its {@link WireSocket}. */
interface SocketOpener {
  /**
   * Starts connecting.
   *
   * @param server where to
   * @param options of the lane for which it is opened: timeouts, buffers, the TLS engine
   * @param socket is told of the outcome, later and on the same event loop
   */
  SocketEnd open(ServerKey server, LaneOptions options, WireSocket socket);
}
