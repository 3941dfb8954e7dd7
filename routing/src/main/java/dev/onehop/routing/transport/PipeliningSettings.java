package dev.onehop.routing.transport;

import java.time.Duration;
import java.util.Objects;

/**
 * How many requests share how few sockets. Immutable.
 *
 * <p>All numbers are per server and per client; sockets for monitoring (two per server, as the
 * driver has without this transport) come on top.
 */
public final class PipeliningSettings {
  private final int socketsPerServer;
  private final int maxInFlightPerSocket;
  private final int maxOwnSockets;
  private final Duration maxSharedTime;
  private final int maxSharedBytes;
  private final Duration slowHead;
  private final Duration stalledAfter;
  private final Duration maxWaitTime;

  private PipeliningSettings(Builder builder) {
    this.socketsPerServer = builder.socketsPerServer;
    this.maxInFlightPerSocket = builder.maxInFlightPerSocket;
    this.maxOwnSockets = builder.maxOwnSockets;
    this.maxSharedTime = builder.maxSharedTime;
    this.maxSharedBytes = builder.maxSharedBytes;
    this.slowHead = builder.slowHead;
    this.stalledAfter = builder.stalledAfter;
    this.maxWaitTime = builder.maxWaitTime;
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

  /** How many requests may be under way on all shared sockets of a server together. */
  public int maxInFlight() {
    return socketsPerServer * maxInFlightPerSocket;
  }

  /** Most sockets for requests that must not share, monitoring aside. */
  public int maxOwnSockets() {
    return maxOwnSockets;
  }

  /** Largest {@code maxTimeMS} with which a request still shares. */
  public Duration maxSharedTime() {
    return maxSharedTime;
  }

  /** Size in bytes of the largest request that still shares. */
  public int maxSharedBytes() {
    return maxSharedBytes;
  }

  /** How long a socket may owe an answer, at the least, before it is passed over. */
  public Duration slowHead() {
    return slowHead;
  }

  /** How long a server may leave bytes unread before its socket is given up. */
  public Duration stalledAfter() {
    return stalledAfter;
  }

  /** How long a request may wait for a socket before it fails. */
  public Duration maxWaitTime() {
    return maxWaitTime;
  }

  /** Collects settings. Not thread-safe. */
  public static final class Builder {
    private int socketsPerServer = 4;
    private int maxInFlightPerSocket = 64;
    private int maxOwnSockets = 100;
    private Duration maxSharedTime = Duration.ofSeconds(10);
    private int maxSharedBytes = 256 * 1024;
    private Duration slowHead = Duration.ofMillis(50);
    private Duration stalledAfter = Duration.ofSeconds(30);
    private Duration maxWaitTime = Duration.ofMinutes(2);

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
     * Unanswered requests per shared socket: 64 by default. Times {@link #socketsPerServer}, this
     * is the most the driver's pool may hold; beyond it, operations wait in the pool's queue.
     *
     * @throws IllegalArgumentException if it is not within 1 and 10,000
     */
    public Builder maxInFlightPerSocket(int requests) {
      this.maxInFlightPerSocket = between("maxInFlightPerSocket", 1, requests, 10_000);
      return this;
    }

    /**
     * Most sockets per server for what must not share, such as change streams and aggregations: 100
     * by default, as many as the driver's pool opens by default. Beyond it, such requests wait.
     *
     * @throws IllegalArgumentException if it is not within 1 and 10,000
     */
    public Builder maxOwnSockets(int sockets) {
      this.maxOwnSockets = between("maxOwnSockets", 1, sockets, 10_000);
      return this;
    }

    /**
     * A request whose {@code maxTimeMS} is larger gets a socket of its own: 10 seconds by default.
     * The driver sends what is left of an operation's {@code timeoutMS} as {@code maxTimeMS}, so a
     * client with a larger {@code timeoutMS} has to raise this, too.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder maxSharedTime(Duration time) {
      this.maxSharedTime = positive("maxSharedTime", time);
      return this;
    }

    /**
     * A larger request gets a socket of its own, so that nobody waits while it is sent: 256 KiB by
     * default.
     *
     * @throws IllegalArgumentException if it is not within 1 KiB and 48,000,000
     */
    public Builder maxSharedBytes(int bytes) {
      this.maxSharedBytes = between("maxSharedBytes", 1024, bytes, 48_000_000);
      return this;
    }

    /**
     * A shared socket that owes an answer for longer than this, and longer than four times the
     * usual, gets no new requests until it answers: 50 ms by default. When all of them are slow,
     * what has waited for a second is sent on sockets of its own, {@link #maxOwnSockets} at most.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder slowHead(Duration time) {
      this.slowHead = positive("slowHead", time);
      return this;
    }

    /**
     * A socket whose peer has taken no byte for that long, though some are waiting, is closed and
     * its requests fail: 30 seconds by default.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder stalledAfter(Duration time) {
      this.stalledAfter = positive("stalledAfter", time);
      return this;
    }

    /**
     * A request that has waited that long for a socket fails with a network error, unsent: 2
     * minutes by default, as the driver's own {@code maxWaitTime} for its pool. The timeouts of the
     * driver and of single operations hold beside it.
     *
     * @throws IllegalArgumentException if it is not positive
     */
    public Builder maxWaitTime(Duration time) {
      this.maxWaitTime = positive("maxWaitTime", time);
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

    private static Duration positive(String name, Duration value) {
      Objects.requireNonNull(value, name);
      if (value.isNegative() || value.isZero()) {
        throw new IllegalArgumentException(name + " must be positive: " + value);
      }
      return value;
    }
  }
}
