package dev.onehop.ycsb;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The client that all threads of a mode share. The first thread opens the client, and the last
 * thread closes it.
 *
 * <p>Threads that arrive while the client is being opened wait for the result. If the opening
 * fails, all these threads fail, too. Otherwise each thread would wait for a separate timeout. A
 * later thread tries again.
 */
final class SharedStore {
  private static final Map<String, SharedStore> OPEN = new HashMap<>(); // guarded by OPEN

  private final String mode;
  private final BindingOptions options;
  private final RunTotals totals;
  private final CompletableFuture<Opened> opening = new CompletableFuture<>();
  private int users; // guarded by OPEN
  private @Nullable CommonStart start; // guarded by this

  private SharedStore(String mode, BindingOptions options) {
    this.mode = mode;
    this.options = options;
    this.totals = RunTotals.of(mode, options.summary());
  }

  /**
   * Adds a thread to the users of a mode's client. The first thread opens the client.
   *
   * @param opener opens the client
   * @throws RuntimeException the exception of the opener or of the first ping
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
    shared.opened(); // throws if the client could not be opened
    shared.totals.threadStarts();
    return shared;
  }

  DocumentStore store() {
    return opened().store;
  }

  /** The warm-up of all threads. */
  WarmupTime warmup() {
    return opened().warmup;
  }

  /**
   * Waits until the other clients of the run are ready, too. The first thread that calls this
   * method reports this client as ready. All threads of this client wait.
   *
   * @param share this client's share; null if it is the only client
   */
  synchronized void startTogether(@Nullable ClientShare share) {
    if (share != null && start == null) {
      CommonStart first = new CommonStart(store(), share);
      first.await();
      start = first;
    }
  }

  /** The totals of all threads of the run. */
  RunTotals totals() {
    return totals;
  }

  /**
   * Adds a thread's tally. The last thread closes the client and writes the summary.
   *
   * @throws UncheckedIOException if the summary cannot be written; the client is closed in this
   *     case, too
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
      CommonStart together = start();
      if (together == null) {
        writeSummary();
      } else {
        totals.client(together.client());
        writeSummary();
        together.leave();
      }
    }
  }

  private synchronized @Nullable CommonStart start() {
    return start;
  }

  private void writeSummary() {
    totals.warmup(warmup());
    totals.reached(RunLength.reached(options.summary()));
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
      opening.complete(new Opened(store, options.warmupFromNow()));
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

  private record Opened(DocumentStore store, WarmupTime warmup) {}
}
