package dev.onehop.routing.transport;

/**
 * The settings of pipelining: short requests of all of a client's operations share a few sockets
 * per server. With n threads and a round trip of R, a client sends n/R operations per second.
 * Without pipelining, it sends at most (number of sockets)/R. Immutable.
 *
 * <p>A server executes the requests of one socket one after another, so a slow request delays the
 * requests behind it (head-of-line blocking). The drivers' specification therefore forbids
 * pipelining. Use pipelining if most of the latency comes from round trips.
 *
 * <p>To make such delays rare, a request that may be slow gets a separate socket:
 *
 * <ul>
 *   <li>aggregations, change streams, and cursors without a limit, with their getMore
 *   <li>writes to many documents, unacknowledged writes, and writes whose write concern is a number
 *       above 1 or a tag
 *   <li>commits and aborts
 *   <li>large messages, and commands with a {@code maxTimeMS} above 10 seconds
 *   <li>commands that are not known to be short
 * </ul>
 *
 * <p>All other writes share sockets, although they may wait for locks and for a write concern such
 * as {@code majority}. While a write is unanswered on a socket, no read is sent on this socket. A
 * socket whose oldest request is unusually slow receives no further requests until the reply. If
 * all sockets are slow, a request that has waited for a second gets a separate socket.
 *
 * <p>When a socket breaks, the requests on it fail with a network error. As with any broken
 * connection, it is unknown whether they were executed. An operation that is cancelled or times out
 * does not affect others. Every kind of credential, TLS, compression and proxies work as without
 * pipelining. Pipelining does not work with load balancers ({@code loadBalanced=true}). Synchronous
 * clients do not share sockets, because their threads read the replies themselves.
 *
 * <p>The numbers in these settings are per server and per client. Separate sockets, up to {@code
 * maxPoolSize}, and sockets for monitoring are additional.
 */
public final class PipeliningSettings {
  private final int socketsPerServer;
  private final int maxInFlightPerSocket;
  private final int maxSharedBytes;

  private PipeliningSettings(Builder builder) {
    this.socketsPerServer = builder.socketsPerServer;
    this.maxInFlightPerSocket = builder.maxInFlightPerSocket;
    this.maxSharedBytes = builder.maxSharedBytes;
  }

  /** Creates a builder with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** The number of sockets that short requests share. */
  public int socketsPerServer() {
    return socketsPerServer;
  }

  /** The largest number of unanswered requests on one shared socket. */
  public int maxInFlightPerSocket() {
    return maxInFlightPerSocket;
  }

  /** The size in bytes of the largest request that uses a shared socket. */
  public int maxSharedBytes() {
    return maxSharedBytes;
  }

  /** Builds settings. Not thread-safe. */
  public static final class Builder {
    private int socketsPerServer = 4;
    private int maxInFlightPerSocket = 64;
    private int maxSharedBytes = 256 * 1024;

    private Builder() {}

    /**
     * The number of sockets per server that short requests share: 4 by default. A server executes
     * one socket's requests one after another, so this is the number of requests that run in
     * parallel. If there are reads and writes, at least one of these sockets is reserved for reads.
     * If there is only one socket, each write gets a separate socket.
     *
     * @throws IllegalArgumentException if it is not between 1 and 10,000
     */
    public Builder socketsPerServer(int sockets) {
      this.socketsPerServer = between("socketsPerServer", 1, sockets, 10_000);
      return this;
    }

    /**
     * The largest number of unanswered requests per shared socket: 64 by default. Further requests
     * wait, for {@code waitQueueTimeoutMS} at most.
     *
     * @throws IllegalArgumentException if it is not between 1 and 10,000
     */
    public Builder maxInFlightPerSocket(int requests) {
      this.maxInFlightPerSocket = between("maxInFlightPerSocket", 1, requests, 10_000);
      return this;
    }

    /**
     * The size in bytes of the largest request on a shared socket: 256 KiB by default. A larger
     * request gets a separate socket, so that no other request waits while it is sent.
     *
     * @throws IllegalArgumentException if it is not between 1 KiB and 48,000,000
     */
    public Builder maxSharedBytes(int bytes) {
      this.maxSharedBytes = between("maxSharedBytes", 1024, bytes, 48_000_000);
      return this;
    }

    /** Creates the settings. */
    public PipeliningSettings build() {
      return new PipeliningSettings(this);
    }

    private static int between(String name, int least, int value, int most) {
      if (value < least || value > most) {
        throw new IllegalArgumentException(
            name + " must be between " + least + " and " + most + ": " + value);
      }
      return value;
    }
  }
}
