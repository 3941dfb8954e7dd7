package dev.onehop.copy.verify;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Counts the progress of a verification. Thread-safe. */
final class VerifyMeter {
  final AtomicLong documents = new AtomicLong();
  final AtomicLong expected = new AtomicLong();
  final AtomicInteger ranges = new AtomicInteger();
  final AtomicInteger allRanges = new AtomicInteger();
  final AtomicInteger resumed = new AtomicInteger();
  private final AtomicLong differing = new AtomicLong();
  private final AtomicInteger details;
  private volatile String phase = ClusterVerification.CONNECTING;
  private volatile @Nullable SecondLooks looks;

  /**
   * @param details the most differing keys that the report may name
   */
  VerifyMeter(int details) {
    this.details = new AtomicInteger(details);
  }

  void phase(String now) {
    phase = now;
  }

  void looks(@Nullable SecondLooks now) {
    looks = now;
  }

  /** Counts a key that differs. Returns whether the report may name it. */
  boolean differs() {
    differing.incrementAndGet();
    return details.get() > 0 && details.getAndDecrement() > 0;
  }

  /**
   * Counts the ranges that an earlier run has compared, and the keys that the earlier run has
   * named.
   */
  void resumed(int count, int named) {
    resumed.addAndGet(count);
    ranges.addAndGet(count);
    details.addAndGet(-named);
  }

  VerifyProgress progress() {
    SecondLooks now = looks;
    return new VerifyProgress(
        phase,
        documents.get(),
        expected.get(),
        ranges.get(),
        allRanges.get(),
        now == null ? 0 : now.waiting(),
        differing.get());
  }
}
