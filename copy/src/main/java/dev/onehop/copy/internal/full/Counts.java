package dev.onehop.copy.internal.full;

import java.util.concurrent.atomic.AtomicLong;

/** Counts the work so far, of this process and earlier ones. Thread-safe. */
public final class Counts {
  final AtomicLong ranges = new AtomicLong();
  final AtomicLong rangesDone = new AtomicLong();
  final AtomicLong documents = new AtomicLong();
  final AtomicLong documentsDone = new AtomicLong();
  final AtomicLong bytesDone = new AtomicLong();
  final AtomicLong rangesReadAgain = new AtomicLong();

  /** Starts at zero. */
  public Counts() {}

  /** How many ranges there are. */
  public long ranges() {
    return ranges.get();
  }

  /** How many ranges are finished. */
  public long rangesDone() {
    return rangesDone.get();
  }

  /** An estimate of how many documents there are. */
  public long documents() {
    return documents.get();
  }

  /** How many documents were copied. */
  public long documentsDone() {
    return documentsDone.get();
  }

  /** How many bytes the copied documents had. */
  public long bytesDone() {
    return bytesDone.get();
  }

  /** How many ranges were read a second time, in part at least. */
  public long rangesReadAgain() {
    return rangesReadAgain.get();
  }
}
