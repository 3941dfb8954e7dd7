package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.WireSettings.PoolLimits;
import java.io.IOException;
import java.time.Duration;

/**
 * The age of a pool's connection, its idle time, and the time for which the peer has accepted no
 * bytes. Guarded by the lock of the pool, or confined to the event loop of the shared connections.
 */
final class Lifetime {
  /**
   * If a peer's kernel has accepted no byte for this time, the peer has stopped and will not reply.
   */
  private static final Duration STALLED = Duration.ofSeconds(30);

  private final int generation;
  private final long openedAtNanos;
  private long idleSinceNanos;
  private long unsentSinceNanos;
  private long unsentBytes;

  /**
   * @param generation the pool's generation at the start of the opening
   * @param now the time of the end of the opening, by {@link System#nanoTime}
   */
  Lifetime(int generation, long now) {
    this.generation = generation;
    this.openedAtNanos = now;
    this.idleSinceNanos = now;
    this.unsentSinceNanos = now;
  }

  int generation() {
    return generation;
  }

  void idleSince(long now) {
    idleSinceNanos = now;
  }

  /** Whether the connection must not serve further requests. */
  boolean isOver(PoolLimits limits, int poolsGeneration, long now) {
    return generation != poolsGeneration
        || exceeds(limits.maxLife(), now - openedAtNanos)
        || exceeds(limits.maxIdle(), now - idleSinceNanos);
  }

  /**
   * Whether the peer has accepted none of the pending bytes for so long that the connection should
   * be closed. The method compares the pending bytes with those of the last call, so it must be
   * called regularly.
   */
  boolean isStalled(long bytes, long now) {
    if (bytes == 0 || bytes != unsentBytes) {
      unsentSinceNanos = now;
      unsentBytes = bytes;
    }
    return now - unsentSinceNanos > STALLED.toNanos();
  }

  static IOException stalled(ServerAddressName server) {
    return new IOException(server + " has not accepted data for " + STALLED.toSeconds() + " s");
  }

  private static boolean exceeds(Duration limit, long nanos) {
    return !limit.isZero() && nanos > limit.toNanos();
  }
}
