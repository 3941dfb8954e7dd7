package dev.onehop.copy.internal.apply;

import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Mono;

/**
 * Writes plans in the lanes of channels, and notes there which documents were read. Thread-safe.
 */
final class PlanWriter {
  private final BatchWriter writer;
  private final AtomicLong documentsRead = new AtomicLong();

  PlanWriter(BatchWriter writer) {
    this.writer = writer;
  }

  Mono<Void> write(Tenure tenure, BatchPlan plan) {
    return writer
        .write(tenure.writes(), plan)
        .doOnSuccess(
            done -> {
              plan.read().forEach(tenure.lane()::wrote);
              documentsRead.addAndGet(plan.documentsRead());
            });
  }

  long documentsRead() {
    return documentsRead.get();
  }
}
