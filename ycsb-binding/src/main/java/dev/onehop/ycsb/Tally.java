package dev.onehop.ycsb;

/** What one YCSB thread did. Confined to that thread until it hands it in. */
final class Tally {
  private long operations;
  private long errors;
  private long warmupOperations;
  private long firstOperationNanos;
  private long lastOperationNanos;

  /** Counts an operation, its times as of {@link System#nanoTime}. */
  void operation(long startNanos, long endNanos, boolean ok) {
    if (operations == 0) {
      firstOperationNanos = startNanos;
    }
    operations++;
    errors += ok ? 0 : 1;
    lastOperationNanos = endNanos;
  }

  /** The batch that was pending is written now: the operations that filled it end here. */
  void batchWritten(long endNanos) {
    lastOperationNanos = endNanos;
  }

  /** Counts documents of a batch which turned out not to be written. */
  void lost(int documents) {
    errors += documents;
  }

  /** Counts operations that are not measured. */
  void warmupOperations(long more) {
    warmupOperations += more;
  }

  long operations() {
    return operations;
  }

  long errors() {
    return errors;
  }

  long warmupOperations() {
    return warmupOperations;
  }

  /** Start of the first operation; without a meaning as long as there is none. */
  long firstOperationNanos() {
    return firstOperationNanos;
  }

  /** End of the last operation; without a meaning as long as there is none. */
  long lastOperationNanos() {
    return lastOperationNanos;
  }
}
