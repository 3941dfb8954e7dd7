package dev.onehop.wire.connection;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a step for each of several objects, even if the step fails for some. */
final class Each {
  private static final Logger log = LoggerFactory.getLogger(Each.class);

  private Each() {}

  /** Runs the step for all objects. Failures are logged. */
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
