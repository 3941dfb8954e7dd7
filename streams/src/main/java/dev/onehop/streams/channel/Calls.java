package dev.onehop.streams.channel;

import java.util.function.Consumer;
import java.util.function.Supplier;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** Calls of what an application has made. */
final class Calls {
  private Calls() {}

  /**
   * Calls it, and tells how that ends. Reactor does not tell all errors: those of linkage and of
   * the virtual machine it throws here, where nobody else would notice.
   */
  static <T> void run(
      Supplier<? extends Publisher<? extends T>> call,
      Consumer<? super T> given,
      Consumer<? super Throwable> failed,
      Runnable completed) {
    try {
      Mono.defer(() -> Mono.<T>from(call.get())).subscribe(given, failed, completed);
    } catch (RuntimeException | Error thrown) {
      failed.accept(thrown);
    }
  }

  /** The same for what gives nothing but its end. */
  static void run(
      Supplier<? extends Publisher<Void>> call,
      Consumer<? super Throwable> failed,
      Runnable completed) {
    run(call, nothing -> {}, failed, completed);
  }
}
