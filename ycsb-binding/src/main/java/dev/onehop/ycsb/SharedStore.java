package dev.onehop.ycsb;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * The one client that all threads of a mode share: opened by the first thread, closed by the last.
 *
 * <p>Threads that come while it is being opened wait for it, and share its failure instead of each
 * waiting for a timeout of its own; the next thread after a failure tries again.
 */
final class SharedStore {
  private static final Map<String, SharedStore> OPEN = new HashMap<>(); // guarded by itself

  private final String mode;
  private final BindingOptions options;
  private final RunTotals totals;
  private final CompletableFuture<Opened> opening = new CompletableFuture<>();
  private int users; // guarded by OPEN

  private SharedStore(String mode, BindingOptions options) {
    this.mode = mode;
    this.options = options;
    this.totals = RunTotals.of(mode, options.summary());
  }

  /**
   * Joins the threads that use a mode's client, which {@code opener} opens for the first of them.
   *
   * @throws RuntimeException what the opener or the first ping threw
   */
  static SharedStore acquire(String mode, BindingOptions options, Supplier<DocumentStore> opener) {
    SharedStore shared;
    boolean first;
    synchronized (OPEN) {
      first = !OPEN.containsKey(mode);
      shared = OPEN.computeIfAbsent(mode, key -> new SharedStore(key, options));
      shared.users++;
    }
    if (first) {
      shared.open(opener);
    }
    shared.opened(); // throws if it could not be opened
    shared.totals.threadStarts();
    return shared;
  }

  DocumentStore store() {
    return opened().store;
  }

  /** When the warm-up ends for all threads, as of {@link System#nanoTime}. */
  long warmupEndNanos() {
    return opened().warmupEndNanos;
  }

  /** What all threads of the run did. */
  RunTotals totals() {
    return totals;
  }

  /**
   * Hands in what a thread did. The last thread closes the client and writes the summary.
   *
   * @throws UncheckedIOException if the summary can't be written; the client is closed
   */
  void release(Tally tally) {
    totals.threadFinishes(tally);
    synchronized (OPEN) {
      users--;
      if (users > 0) {
        return;
      }
      OPEN.remove(mode, this);
    }
    try (DocumentStore store = store()) {
      totals.addRoutes(store.routes());
    }
    Path summary = options.summary();
    if (summary != null) {
      try {
        totals.summary().writeTo(summary);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void open(Supplier<DocumentStore> opener) {
    DocumentStore store = null;
    try {
      store = opener.get();
      store.ping().block();
      long warmupEndNanos = System.nanoTime() + options.warmup().toNanos();
      opening.complete(new Opened(store, warmupEndNanos));
    } catch (RuntimeException | Error e) {
      synchronized (OPEN) {
        OPEN.remove(mode, this);
      }
      if (store != null) {
        store.close();
      }
      opening.completeExceptionally(e);
    }
  }

  private Opened opened() {
    try {
      return opening.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw e;
    }
  }

  private record Opened(DocumentStore store, long warmupEndNanos) {}
}
