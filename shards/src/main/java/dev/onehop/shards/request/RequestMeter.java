package dev.onehop.shards.request;

/** Measures the commands of clients. Thread-safe. */
@FunctionalInterface
public interface RequestMeter {
  /**
   * A command has arrived.
   *
   * @param requestId the number under which the client sent it
   */
  CommandTrace begin(int requestId);
}
