package dev.onehop.wire.connection;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A step for each of several, whatever it throws for one of them. */
final class Each {
  private static final Logger log = LoggerFactory.getLogger(Each.class);

  private Each() {}

  /** Takes the step for all. What it throws is logged. */
  static <T> void of(Iterable<T> all, Consumer<? super T> step) {
    for (T one : all) {
      try {
        step.accept(one);
      } catch (Throwable failure) {
        log.warn("a step failed for one of several connections or requests", failure);
      }
    }
  }
}
