package dev.onehop.testbed.standin.command;

import dev.onehop.shards.cursor.ShardCursor;
import dev.onehop.wire.LateErrors;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The cursors of several shards while they are opened. If one cannot be opened, all are closed.
 * Thread-safe.
 */
final class OpeningCursors {
  private final List<ShardCursor> opened = new ArrayList<>();
  private boolean givenUp;

  void add(ShardCursor cursor) {
    synchronized (opened) {
      opened.add(cursor);
      if (!givenUp) {
        return;
      }
    }
    cursor.kill().subscribe(null, null, null, LateErrors.LOGGED);
  }

  /** Records that all cursors are open. From now on, {@link #giveUp} does not close them. */
  void complete() {
    synchronized (opened) {
      opened.clear();
    }
  }

  /** Closes the cursors, also cursors that are added later; never fails. */
  Mono<Void> giveUp() {
    synchronized (opened) {
      givenUp = true;
      return Flux.fromIterable(List.copyOf(opened)).flatMap(ShardCursor::kill).then();
    }
  }
}
