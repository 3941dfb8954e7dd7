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
 * Reads differing keys again, with growing pauses, until it can decide about them.
 *
 * <p>The destination may follow the source, and be behind it by less than a given time. A key is
 * equal if the destination has the documents that the source has, or has had since the first look.
 * A key differs if neither side changed for that time. It also differs if the destination did not
 * change for twice that time, while the source was read often enough. In that case the source had
 * the destination's documents in the first half of the time, and a look would have seen them.
 *
 * <p>Thread-safe.
 */
final class SecondLooks implements Callable<Void> {
  // The origin of nanoTime is arbitrary, so that only differences of times compare.
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

  private int count; // keys that are not decided; guarded by this, as all below
  private long bytes;
  private boolean complete;

  /**
   * @param settle how far the destination may be behind
   */
  SecondLooks(Duration settle) {
    this.settle = settle.toNanos();
    this.giveUp = Math.max(LEAST_GIVE_UP.toNanos(), this.settle * GIVE_UP);
    this.longestPause =
        Math.max(FIRST_PAUSE.toNanos(), Math.min(LONGEST_PAUSE.toNanos(), this.settle / 4));
  }

  /** An undecided key. */
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

  /** The outcome of another look. */
  enum Verdict {
    EQUAL,
    DIFFERENT,
    UNDECIDED,
    AGAIN
  }

  /** Adds a key that differs. Waits while there are too many undecided keys. */
  void add(RangeWork range, ByteBuffer order, BsonValue key, Fingerprint from, Fingerprint to)
      throws InterruptedException {
    Waiting waiting = new Waiting(range, order, key, from, to, System.nanoTime());
    synchronized (this) {
      while (count > 0 && (count >= MOST_WAITING || bytes >= MOST_BYTES)) {
        wait();
      }
      count++;
      bytes += order.remaining();
      queue.add(waiting);
      notifyAll();
    }
  }

  /** States that no more keys will come. */
  synchronized void complete() {
    complete = true;
    notifyAll();
  }

  /** The number of undecided keys. */
  synchronized int waiting() {
    return count;
  }

  /** Reads keys until all are decided and no more will come. */
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

  /** Waits for keys whose pause has ended. The list is empty at the end of all work. */
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
    // The source first: it had the destination's documents before this look, or has them now.
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
        case EQUAL -> waiting.range.equal();
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
   * Evaluates another look. A value that it shows for the first time may be as recent as its end. A
   * value that it shows again is at least as old as its beginning.
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
      // Between looks so far apart, the source may have had a value that no look has seen.
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
