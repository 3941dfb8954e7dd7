package dev.onehop.copy.internal.full;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the ranges and documents that this process and earlier processes of the job have copied.
 * Thread-safe.
 */
public final class Counts {
  final AtomicLong ranges = new AtomicLong();
  final AtomicLong rangesDone = new AtomicLong();
  final AtomicLong documents = new AtomicLong();
  final AtomicLong documentsDone = new AtomicLong();
  final AtomicLong bytesDone = new AtomicLong();
  final AtomicLong rangesReadAgain = new AtomicLong();

  /** Creates counts that are all zero. */
  public Counts() {}

  /** The number of ranges of all collections. */
  public long ranges() {
    return ranges.get();
  }

  /** The number of finished ranges. */
  public long rangesDone() {
    return rangesDone.get();
  }

  /** An estimate of the number of documents to copy. */
  public long documents() {
    return documents.get();
  }

  /** The number of copied documents. */
  public long documentsDone() {
    return documentsDone.get();
  }

  /** The number of bytes of the copied documents. */
  public long bytesDone() {
    return bytesDone.get();
  }

  /** The number of ranges that were read again, completely or in part. */
  public long rangesReadAgain() {
    return rangesReadAgain.get();
  }
}
