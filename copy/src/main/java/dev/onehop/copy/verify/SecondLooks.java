package dev.onehop.copy.verify;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Reads the documents of differing keys again, with growing pauses, until it can decide whether
 * they differ. One such read is called a look.
 *
 * <p>The destination may follow the source, and may be behind the source by up to a given time,
 * <em>settle</em>. A key is equal if the destination has the documents that the source has now or
 * had at an earlier look. A key differs if its documents did not change in both clusters for the
 * time <em>settle</em>. A key also differs if its documents at the destination did not change for
 * twice this time, although the source was read often enough. The reason: if the destination was
 * only behind, it would have documents that the source had in the first half of this time. A look
 * would have read these documents at the source.
 *
 * <p>Thread-safe.
 */
final class SecondLooks implements Callable<Void> {
  // Only differences of nanoTime can be compared, because its values may overflow.
  private static final long ORIGIN = System.nanoTime();

  private static final int MOST_WAITING = 50_000;
  private static final long MOST_BYTES = 16L << 20;
  private static final int MOST_AT_ONCE = 200;
  private static final int MOST_BYTES_AT_ONCE = 1 << 20;
  private static final int LEAST_SEEN = 8;
  private static final int MOST_SEEN = 100;
  private static final int MOST_SEEN_OF_ALL = 400_000;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(250);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);
  private static final Duration LEAST_GIVE_UP = Duration.ofSeconds(60);
  private static final int GIVE_UP = 10;

  private final long settle;
  private final long giveUp;
  private final long longestPause;
  private final PriorityQueue<Waiting> queue =
      new PriorityQueue<>(Comparator.comparingLong((Waiting waiting) -> waiting.due - ORIGIN));

  private int count; // undecided keys; guarded by this, as all following fields
  private long bytes;
  private boolean complete;

  /**
   * @param settle how far the destination may be behind the source
   */
  SecondLooks(Duration settle) {
    this.settle = settle.toNanos();
    this.giveUp = Math.max(LEAST_GIVE_UP.toNanos(), this.settle * GIVE_UP);
    this.longestPause =
        Math.max(FIRST_PAUSE.toNanos(), Math.min(LONGEST_PAUSE.toNanos(), this.settle / 4));
  }

  /** An undecided key, with the results of its looks. */
  static final class Waiting {
    private final RangeWork range;
    private final ByteBuffer order;
    private final BsonValue key;
    private final Deque<Fingerprint> seen = new ArrayDeque<>();
    private Fingerprint from;
    private Fingerprint to;
    private final long first;
    private long changed;
    private long steady;
    private long looked;
    private long pause = FIRST_PAUSE.toNanos();
    private long due;

    Waiting(
        RangeWork range,
        ByteBuffer order,
        BsonValue key,
        Fingerprint from,
        Fingerprint to,
        long now) {
      this.range = range;
      this.order = order;
      this.key = key;
      this.from = from;
      this.to = to;
      this.first = now;
      this.changed = now;
      this.steady = now;
      this.looked = now;
      this.due = now + pause;
      seen.add(from);
    }

    Difference.Kind kind() {
      return to.count() < from.count()
          ? Difference.Kind.MISSING
          : to.count() > from.count() ? Difference.Kind.EXTRA : Difference.Kind.DIFFERENT;
    }
  }

  /** The result of a look. */
  enum Verdict {
    EQUAL,
    DIFFERENT,
    UNDECIDED,
    AGAIN
  }

  /** Adds a key whose documents differ. Waits while there are too many undecided keys. */
  synchronized void add(Waiting waiting) throws InterruptedException {
    while (count > 0 && (count >= MOST_WAITING || bytes >= MOST_BYTES)) {
      wait();
    }
    count++;
    bytes += waiting.order.remaining();
    queue.add(waiting);
    notifyAll();
  }

  /** Called when all keys are added. */
  synchronized void complete() {
    complete = true;
    notifyAll();
  }

  /** The number of undecided keys. */
  synchronized int waiting() {
    return count;
  }

  /** Reads keys until all keys are added and decided. */
  @Override
  public @Nullable Void call() throws InterruptedException {
    while (true) {
      List<Waiting> due = due();
      if (due.isEmpty()) {
        return null;
      }
      Map<CollectionWork, List<Waiting>> byCollection = new LinkedHashMap<>();
      for (Waiting waiting : due) {
        byCollection
            .computeIfAbsent(waiting.range.collection(), collection -> new ArrayList<>())
            .add(waiting);
      }
      for (Map.Entry<CollectionWork, List<Waiting>> entry : byCollection.entrySet()) {
        look(entry.getKey(), entry.getValue());
      }
    }
  }

  /** Waits for keys whose pause has ended. The list is empty if all keys are added and decided. */
  private synchronized List<Waiting> due() throws InterruptedException {
    while (true) {
      Waiting next = queue.peek();
      if (next == null) {
        if (complete) {
          return List.of();
        }
        wait();
        continue;
      }
      long wait = next.due - System.nanoTime();
      if (wait > 0) {
        TimeUnit.NANOSECONDS.timedWait(this, wait);
        continue;
      }
      List<Waiting> due = new ArrayList<>();
      long size = 0;
      long now = System.nanoTime();
      while (next != null
          && next.due - now <= 0
          && due.size() < MOST_AT_ONCE
          && size < MOST_BYTES_AT_ONCE) {
        due.add(queue.remove());
        size += next.order.remaining();
        next = queue.peek();
      }
      return due;
    }
  }

  private void look(CollectionWork collection, List<Waiting> all) throws InterruptedException {
    List<BsonValue> keys = all.stream().map(waiting -> waiting.key).toList();
    long begun = System.nanoTime();
    // The source is read first. If the destination only follows the source, the source had the
    // destination's documents before this look, or has them during this look.
    Map<ByteBuffer, Fingerprint> from = collection.from().look(keys, collection.batch());
    Map<ByteBuffer, Fingerprint> to = collection.to().look(keys, collection.batch());
    long ended = System.nanoTime();
    for (Waiting waiting : all) {
      Verdict verdict =
          judge(
              waiting,
              from.getOrDefault(waiting.order, Fingerprint.NONE),
              to.getOrDefault(waiting.order, Fingerprint.NONE),
              begun,
              ended);
      switch (verdict) {
        case EQUAL -> waiting.range.decided();
        case DIFFERENT -> waiting.range.differs(waiting.kind(), waiting.key);
        case UNDECIDED -> waiting.range.undecided();
        case AGAIN -> {
          waiting.due = System.nanoTime() + waiting.pause;
          waiting.pause = Math.min(2 * waiting.pause, longestPause);
        }
      }
      synchronized (this) {
        if (verdict == Verdict.AGAIN) {
          queue.add(waiting);
        } else {
          count--;
          bytes -= waiting.order.remaining();
          notifyAll();
        }
      }
    }
  }

  /**
   * Evaluates a look. A fingerprint that this look finds for the first time may have appeared at
   * any time before the end of the look. If an earlier look has found the fingerprint, too, it has
   * lasted at least until the beginning of this look.
   */
  Verdict judge(Waiting waiting, Fingerprint from, Fingerprint to, long begun, long ended) {
    if (!from.equals(waiting.from)) {
      waiting.from = from;
      waiting.changed = ended;
      waiting.seen.add(from);
      int most = Math.min(MOST_SEEN, MOST_SEEN_OF_ALL / Math.max(1, waiting()));
      while (waiting.seen.size() > Math.max(LEAST_SEEN, most)) {
        waiting.seen.remove();
      }
    }
    if (!to.equals(waiting.to)) {
      waiting.to = to;
      waiting.changed = ended;
      waiting.steady = ended;
    }
    if (ended - waiting.looked > settle) {
      // Too much time has passed since the last look: the source may have had documents in between
      // that no look has read.
      waiting.steady = ended;
    }
    waiting.looked = begun;
    if (waiting.seen.contains(to)) {
      return Verdict.EQUAL;
    }
    if (begun - waiting.changed >= settle || begun - waiting.steady >= 2 * settle) {
      return Verdict.DIFFERENT;
    }
    return begun - waiting.first >= giveUp ? Verdict.UNDECIDED : Verdict.AGAIN;
  }
}
