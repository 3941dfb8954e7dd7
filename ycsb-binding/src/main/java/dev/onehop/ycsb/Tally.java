package dev.onehop.ycsb;

/** The counts of one YCSB thread. Confined to this thread until the counts are in the totals. */
final class Tally {
  private long operations;
  private long errors;
  private long warmupOperations;
  private long firstOperationNanos;
  private long lastOperationNanos;

  /** Counts an operation, with its times by {@link System#nanoTime}. */
  void operation(long startNanos, long endNanos, boolean ok) {
    if (operations == 0) {
      firstOperationNanos = startNanos;
    }
    operations++;
    errors += ok ? 0 : 1;
    lastOperationNanos = endNanos;
  }

  /** Called when a pending batch was written. The operations that filled the batch end now. */
  void batchWritten(long endNanos) {
    lastOperationNanos = endNanos;
  }

  /** Counts documents of a batch that were not written. */
  void lost(int documents) {
    errors += documents;
  }

  /** Counts operations of the warm-up. */
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

  /** Start of the first operation; meaningless without an operation. */
  long firstOperationNanos() {
    return firstOperationNanos;
  }

  /** End of the last operation; meaningless without an operation. */
  long lastOperationNanos() {
    return lastOperationNanos;
  }
}
