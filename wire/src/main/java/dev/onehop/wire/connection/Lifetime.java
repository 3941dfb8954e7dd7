package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.WireSettings.PoolLimits;
import java.io.IOException;
import java.time.Duration;

/**
 * How long a pool's connection has been there, unused, and with bytes that the peer does not take.
 * Guarded by the lock of the pool, or confined to the event loop of the connections that are
 * shared.
 */
final class Lifetime {
  /** A peer whose kernel takes no byte for that long has stopped: its answers won't come either. */
  private static final Duration STALLED = Duration.ofSeconds(30);

  private final int generation;
  private final long openedAtNanos;
  private long idleSinceNanos;
  private long unsentSinceNanos;
  private long unsentBytes;

  /**
   * @param generation the pool's, when the connection began to be opened
   * @param now when it was opened, by {@link System#nanoTime}
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

  /** Whether the connection is to serve no further request. */
  boolean isOver(PoolLimits limits, int poolsGeneration, long now) {
    return generation != poolsGeneration
        || exceeds(limits.maxLife(), now - openedAtNanos)
        || exceeds(limits.maxIdle(), now - idleSinceNanos);
  }

  /**
   * Whether the peer has taken none of the bytes for it for so long that the connection is to be
   * given up. To be called from time to time.
   */
  boolean isStalled(long bytes, long now) {
    if (bytes == 0 || bytes != unsentBytes) {
      unsentSinceNanos = now;
      unsentBytes = bytes;
    }
    return now - unsentSinceNanos > STALLED.toNanos();
  }

  static IOException stalled(ServerAddressName server) {
    return new IOException(
        server + " has not read for " + STALLED.toSeconds() + " s what was sent to it");
  }

  private static boolean exceeds(Duration limit, long nanos) {
    return !limit.isZero() && nanos > limit.toNanos();
  }
}
