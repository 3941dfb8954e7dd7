package dev.onehop.shards.request;

import org.jspecify.annotations.Nullable;

/** Measures the commands of clients. Thread-safe. */
public interface RequestMeter {
  /**
   * A command has arrived.
   *
   * @param requestId the number under which the client sent it
   */
  Measured begin(int requestId);

  /** A command under way. Used by one thread at a time, but for its trace. */
  interface Measured {
    /** Takes note of where it goes. */
    CommandTrace trace();

    /** What it is, said at least once before it ends. */
    void is(String name, String collection);

    /** It has ended. */
    void end(Outcome outcome, @Nullable Throwable failure);
  }
}
