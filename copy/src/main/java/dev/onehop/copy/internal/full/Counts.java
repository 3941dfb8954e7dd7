package dev.onehop.copy.internal.full;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the ranges and documents that this process and earlier processes of the job have copied.
 * Thread-safe.
 */
public final class Counts {
  /** The number of ranges of all collections. */
  public final AtomicLong ranges = new AtomicLong();

  /** The number of finished ranges. */
  public final AtomicLong rangesDone = new AtomicLong();

  /** An estimate of the number of documents to copy. */
  public final AtomicLong documents = new AtomicLong();

  /** The number of copied documents. */
  public final AtomicLong documentsDone = new AtomicLong();

  /** The number of bytes of the copied documents. */
  public final AtomicLong bytesDone = new AtomicLong();

  /** The number of ranges that were read again, completely or in part. */
  public final AtomicLong rangesReadAgain = new AtomicLong();

  /** Creates counts that are all zero. */
  public Counts() {}
}
