package dev.onehop.copy.verify;

import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.full.KeyRange;
import dev.onehop.copy.internal.full.Limits;
import dev.onehop.copy.verify.Rounds.Result;
import dev.onehop.core.bson.SortableKey;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** The comparison of one range of a collection. */
final class RangeWork {
  private final CollectionWork collection;
  private final KeyRange range;

  private long compared; // guarded by this, as all following fields
  private final Map<Difference.Kind, Long> differing = new EnumMap<>(Difference.Kind.class);
  private long unsettled;
  private final List<Difference> details = new ArrayList<>();
  // The undecided keys, and one more until the range is read.
  private int open = 1;

  RangeWork(CollectionWork collection, KeyRange range) {
    this.collection = collection;
    this.range = range;
  }

  CollectionWork collection() {
    return collection;
  }

  /**
   * Reads the range in both clusters. Keys whose documents differ are added to the second looks.
   */
  void read(SecondLooks looks, Limits limits) throws InterruptedException {
    Waits.Patience patience = collection.from().patience();
    KeyRange left = range;
    Group last = null;
    while (true) {
      try (Groups from = collection.from().read(left, collection.batch());
          Groups to = collection.to().read(left, collection.batch())) {
        Group ofFrom = from.next();
        Group ofTo = to.next();
        while (ofFrom != null || ofTo != null) {
          int order = compare(ofFrom, ofTo);
          Group first = Objects.requireNonNull(order <= 0 ? ofFrom : ofTo);
          // After a failure the read starts at or before the last compared key. Keys that were
          // compared before are skipped.
          if (last == null || SortableKey.compare(first.order(), last.order()) > 0) {
            limits.pass(1, 0);
            compare(order <= 0 ? ofFrom : null, order >= 0 ? ofTo : null, first, looks);
            last = first;
            patience.renew();
          }
          if (order <= 0) {
            ofFrom = from.next();
          }
          if (order >= 0) {
            ofTo = to.next();
          }
        }
        break;
      } catch (RuntimeException e) {
        patience.pauseAfter(e);
        left =
            last == null || !collection.pair().hasRanges()
                ? range
                : range.from(new BsonDocument("_id", last.key()));
      }
    }
    decided();
  }

  private static int compare(@Nullable Group from, @Nullable Group to) {
    if (from == null) {
      return 1;
    }
    return to == null ? -1 : SortableKey.compare(from.order(), to.order());
  }

  private void compare(@Nullable Group from, @Nullable Group to, Group first, SecondLooks looks)
      throws InterruptedException {
    collection.meter().documents.incrementAndGet();
    boolean same = from != null && to != null && from.sameAs(to);
    synchronized (this) {
      compared++;
      open += same ? 0 : 1;
    }
    if (!same) {
      looks.add(
          new SecondLooks.Waiting(
              this,
              ByteBuffer.wrap(first.order()),
              first.key(),
              from == null ? Fingerprint.NONE : from.fingerprint(),
              to == null ? Fingerprint.NONE : to.fingerprint(),
              System.nanoTime()));
    }
  }

  /** Called when a key keeps changing, so that it can't be compared. */
  synchronized void undecided() {
    unsettled++;
    decided();
  }

  /** Called when the documents of a key differ for certain. */
  synchronized void differs(Difference.Kind kind, BsonValue key) {
    differing.merge(kind, 1L, Long::sum);
    if (collection.meter().differs()) {
      CollectionPair pair = collection.pair();
      details.add(new Difference(pair.namespace(), kind, new BsonDocument(pair.keyField(), key)));
    }
    decided();
  }

  /** Called when the documents of a key are equal now, and when the whole range is read. */
  synchronized void decided() {
    open--;
    if (open == 0) {
      collection.done(
          range.number(),
          new Result(
              compared,
              count(Difference.Kind.MISSING),
              count(Difference.Kind.EXTRA),
              count(Difference.Kind.DIFFERENT),
              unsettled,
              List.copyOf(details)));
    }
  }

  private long count(Difference.Kind kind) {
    return differing.getOrDefault(kind, 0L);
  }
}
