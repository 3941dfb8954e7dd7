package dev.onehop.shards.request;

/** Measures the commands of clients. Thread-safe. */
@FunctionalInterface
public interface RequestMeter {
  /**
   * Called when a command has arrived.
   *
   * @param requestId the client's request id
   */
  CommandTrace begin(int requestId);
}
