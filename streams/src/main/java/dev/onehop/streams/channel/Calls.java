package dev.onehop.streams.channel;

import java.util.function.Consumer;
import java.util.function.Supplier;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;

/** Calls the application's code. */
final class Calls {
  private static final Logger log = LoggerFactory.getLogger(Calls.class);

  private Calls() {}

  /**
   * Runs a task and reports its exception. Without this method, an executor would only print the
   * exception.
   */
  static void run(Runnable task, Consumer<? super Throwable> failed) {
    try {
      task.run();
    } catch (RuntimeException | Error thrown) {
      failed.accept(thrown);
    }
  }

  /**
   * Logs a failure if it is an {@link Error}. The application may not notice it otherwise, because
   * many handlers receive only exceptions.
   */
  static void logError(Throwable failure) {
    if (Exceptions.unwrap(failure) instanceof Error) {
      log.error("the processing of the channels ends, because an error was thrown", failure);
    }
  }

  /**
   * Calls the application's code and reports the outcome, including linkage errors and errors of
   * the virtual machine. Reactor throws these errors and does not emit them. Also reports an
   * exception of {@code completed}, which Reactor would only log.
   */
  static <T> void run(
      Supplier<? extends Publisher<? extends T>> call,
      Consumer<? super T> given,
      Consumer<? super Throwable> failed,
      Runnable completed) {
    try {
      Mono.defer(() -> Mono.<T>from(call.get()))
          .subscribe(given, failed, () -> run(completed, failed));
    } catch (RuntimeException | Error thrown) {
      failed.accept(thrown);
    }
  }

  /** Calls the application's code, whose publisher emits no element, and reports the outcome. */
  static void run(
      Supplier<? extends Publisher<Void>> call,
      Consumer<? super Throwable> failed,
      Runnable completed) {
    run(call, nothing -> {}, failed, completed);
  }
}
