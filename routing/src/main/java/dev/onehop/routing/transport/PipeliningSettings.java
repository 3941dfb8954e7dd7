package dev.onehop.routing.transport;

/**
 * How many requests share how few sockets: short requests of all of a client's operations go over a
 * few sockets per server. With n threads and a round trip of R, throughput is then n/R, not
 * sockets/R. Immutable.
 *
 * <p>A server works through the requests of one socket one after the other, so a slow one holds up
 * those behind it. What may be slow therefore gets a socket of its own: aggregations and change
 * streams, cursors without a limit and their getMore, commits and aborts, writes to many documents,
 * writes that wait for members by number or tag, large messages, a {@code maxTimeMS} above 10
 * seconds, unacknowledged writes, and what is not known to be short. Other writes may wait for
 * their write concern, the cluster's default included, and for locks: they share sockets among
 * themselves, and no read comes behind one. A socket whose oldest request is unusually slow gets no
 * further ones until it answers; when all are, what has waited for a second gets a socket of its
 * own. The drivers' specification forbids pipelining for this head-of-line blocking: use it where
 * round trips dominate.
 *
 * <p>When a socket breaks, the requests on it fail with a network error; as on any broken
 * connection, whether they were carried out is not known. An operation that is cancelled or times
 * out disturbs no other. Every kind of credential, TLS, compression and proxies work as without
 * pipelining. Not for load balancers ({@code loadBalanced=true}). Synchronous clients, whose
 * threads read their answers themselves, do not share.
 *
 * <p>The numbers are per server and per client. The sockets of single requests come on top, as many
 * as {@code maxPoolSize} allows, and those for monitoring.
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

  /** Starts from the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /** Sockets that short requests share. */
  public int socketsPerServer() {
    return socketsPerServer;
  }

  /** How many requests may be unanswered on one shared socket. */
  public int maxInFlightPerSocket() {
    return maxInFlightPerSocket;
  }

  /** Size in bytes of the largest request that still shares. */
  public int maxSharedBytes() {
    return maxSharedBytes;
  }

  /** Collects settings. Not thread-safe. */
  public static final class Builder {
    private int socketsPerServer = 4;
    private int maxInFlightPerSocket = 64;
    private int maxSharedBytes = 256 * 1024;

    private Builder() {}

    /**
     * Sockets per server that short requests share: 4 by default. A server works through one
     * socket's requests one after the other, so this is how many it runs side by side. Where reads
     * and writes mix, one socket at the least is left to the reads; with a single socket, each
     * write has one of its own.
     *
     * @throws IllegalArgumentException if it is not within 1 and 10,000
     */
    public Builder socketsPerServer(int sockets) {
      this.socketsPerServer = between("socketsPerServer", 1, sockets, 10_000);
      return this;
    }

    /**
     * Unanswered requests per shared socket: 64 by default. What comes beyond that waits, {@code
     * waitQueueTimeoutMS} at most.
     *
     * @throws IllegalArgumentException if it is not within 1 and 10,000
     */
    public Builder maxInFlightPerSocket(int requests) {
      this.maxInFlightPerSocket = between("maxInFlightPerSocket", 1, requests, 10_000);
      return this;
    }

    /**
     * A larger request gets a socket of its own, so that none waits while it is sent: 256 KiB by
     * default.
     *
     * @throws IllegalArgumentException if it is not within 1 KiB and 48,000,000
     */
    public Builder maxSharedBytes(int bytes) {
      this.maxSharedBytes = between("maxSharedBytes", 1024, bytes, 48_000_000);
      return this;
    }

    /** The settings. */
    public PipeliningSettings build() {
      return new PipeliningSettings(this);
    }

    private static int between(String name, int least, int value, int most) {
      if (value < least || value > most) {
        throw new IllegalArgumentException(
            name + " must lie within " + least + " and " + most + ": " + value);
      }
      return value;
    }
  }
}
