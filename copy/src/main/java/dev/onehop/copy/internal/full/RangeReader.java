package dev.onehop.copy.internal.full;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.full.PrimaryCursors.Cursor;
import dev.onehop.copy.internal.full.PrimaryCursors.Name;
import dev.onehop.copy.internal.full.PrimaryCursors.RenamedException;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyException;
import dev.onehop.core.table.ShardKeyPattern;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Reads the documents of ranges from the primaries of the shards that own them, each part with a
 * shard version, so that a shard which does not own it any more refuses. A cursor that is open goes
 * on with what it began with, wherever the range moves; its changes are in the change streams.
 *
 * <p>All reads are of what the majority has, not before the job's start. When a server is lost, a
 * part of a range is read again, so a document may come twice.
 *
 * <p>Thread-safe.
 */
final class RangeReader {
  private final ClusterEnd source;
  private final Mapping mapping;
  private final BsonTimestamp start;
  private final int batchSize;

  /**
   * @param start cluster time of which all reads are, or of a later one
   */
  RangeReader(ClusterEnd source, Mapping mapping, BsonTimestamp start, int batchSize) {
    this.source = source;
    this.mapping = mapping;
    this.start = start;
    this.batchSize = batchSize;
  }

  /** Takes what is read. */
  interface Sink {
    /**
     * A capped collection is read, from its oldest document on: what was taken of it before does
     * not count.
     */
    void begin() throws InterruptedException;

    /** Takes a batch, in the order of the index, at least one document. */
    void take(List<RawBsonDocument> documents) throws InterruptedException;
  }

  /**
   * Reads all documents of a range.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  void read(CopiedCollection collection, KeyRange range, Sink sink) throws InterruptedException {
    BsonDocument from = range.min();
    @Nullable RoutingTable refused = null;
    Name name = new Name(collection.spec().stored(), collection.spec().uuid(), false);
    for (int tries = 1; ; tries++) {
      Attempt attempt = new Attempt(collection, name, range, from, refused, sink);
      try {
        attempt.run();
        return;
      } catch (RenamedException renamed) {
        name = renamed.name();
        from = attempt.from;
      } catch (RuntimeException failure) {
        if (isGone(failure)) {
          // What was of it at the start, its events remove.
          return;
        }
        if (!Waits.isPassing(failure)) {
          throw failure;
        }
        if (!attempt.from.equals(from)) {
          tries = 1;
        }
        from = attempt.from;
        refused = isStale(failure) ? attempt.table : null;
        if (refused == null || tries > 1) {
          Waits.pause("reading " + collection.spec().namespace(), failure, tries);
        }
      }
    }
  }

  private static boolean isGone(RuntimeException failure) {
    return failure instanceof CommandFailure refusal
        && refusal.code() == ErrorCodes.NAMESPACE_NOT_FOUND;
  }

  private static boolean isStale(RuntimeException failure) {
    return failure instanceof CommandFailure refusal
        && (ErrorCodes.isStale(refusal.code()) || refusal.code() == 70);
  }

  /** A part of a range at one shard. */
  private record Part(
      @Nullable RoutingTable table, String shard, BsonDocument min, BsonDocument max) {}

  /** Reads on from a key until something fails. */
  private final class Attempt {
    private final CopiedCollection collection;
    private final Name called;
    private final PrimaryCursors cursors;
    private final RangeFinds finds;
    private final ShardKeyPattern pattern;
    private final KeyRange range;
    private final Sink sink;
    private BsonDocument from;
    private @Nullable RoutingTable refused;
    private @Nullable RoutingTable table;
    // Of a capped collection, the place of the last document that is read.
    private long newest = Long.MAX_VALUE;

    Attempt(
        CopiedCollection collection,
        Name called,
        KeyRange range,
        BsonDocument from,
        @Nullable RoutingTable refused,
        Sink sink) {
      this.collection = collection;
      this.called = called;
      this.cursors = new PrimaryCursors(source, called, batchSize);
      this.finds =
          new RangeFinds(
              collection, called, mapping.filter(collection.spec().namespace()), start, batchSize);
      this.pattern = ShardKeyPattern.of(collection.key());
      this.range = range;
      this.from = from;
      this.refused = refused;
      this.sink = sink;
    }

    void run() throws InterruptedException {
      if (!source.isSharded()) {
        readWhole(null, ClusterEnd.ALONE);
        return;
      }
      while (!from.equals(range.max())) {
        RoutingTable now = Waits.one(source.servers().table(called.namespace(), refused));
        table = now;
        refused = null;
        if (!now.isSharded()) {
          readWhole(now, now.primaryShard());
          return;
        }
        if (!now.shardKeyPattern().equals(pattern)
            || collection.index() == null
            || called.withoutIndex()) {
          readEverywhere(now);
          return;
        }
        Part part = part(now);
        read(part, true);
        from = part.max();
      }
    }

    /** Reads the rest at the only shard. */
    private void readWhole(@Nullable RoutingTable now, String shard) throws InterruptedException {
      if (collection.spec().isCapped()) {
        readCapped(new Part(now, shard, from, range.max()));
        return;
      }
      boolean last = isLastOfSeveral();
      read(new Part(now, shard, from, range.max()), true);
      if (last) {
        read(new Part(now, shard, range.max(), range.max()), false);
      }
    }

    /**
     * Reads what a capped collection has when this begins. All of it fits into the destination's,
     * which therefore removes nothing. What is inserted later comes with the changes.
     */
    private void readCapped(Part part) throws InterruptedException {
      sink.begin();
      Cursor backwards = cursors.open(part.table(), part.shard(), finds.newest());
      List<RawBsonDocument> last = CursorReplies.documents(backwards.reply());
      if (last.isEmpty()) {
        cursors.requireSamePrimary(backwards);
        return;
      }
      newest = RangeFinds.recordId(last.get(0));
      Cursor cursor = open(part);
      if (!cursor.tenure().equals(backwards.tenure())) {
        cursors.kill(cursor);
        throw PrimaryCursors.replaced();
      }
      cursors.drain(cursor, this::takeUnordered);
      cursors.requireSamePrimary(cursor);
    }

    /** What one shard owns at the beginning of the rest. */
    private Part part(RoutingTable now) {
      int first = now.chunkIndexOf(pattern.keyOfBound(from));
      String shard = now.shardOfChunk(first);
      byte[] end = pattern.keyOfBound(range.max());
      int last = first;
      while (last + 1 < now.chunkCount()
          && now.shardOfChunk(last + 1).equals(shard)
          && Arrays.compareUnsigned(pattern.keyOfBound(now.chunk(last).max()), end) < 0) {
        last++;
      }
      BsonDocument max = now.chunk(last).max();
      return new Part(
          now,
          shard,
          from,
          Arrays.compareUnsigned(pattern.keyOfBound(max), end) < 0 ? max : range.max());
    }

    /**
     * The key of the collection is not that of the range any more. All shards are asked under one
     * table, and all at once, so that what moves is seen at one of them.
     */
    private void readEverywhere(RoutingTable now) throws InterruptedException {
      List<Cursor> opened = new ArrayList<>();
      try {
        for (String shard : now.shards()) {
          opened.add(open(new Part(now, shard, from, range.max())));
          if (isLastOfSeveral()) {
            opened.add(open(new Part(now, shard, range.max(), range.max())));
          }
        }
        while (!opened.isEmpty()) {
          Cursor cursor = opened.remove(0);
          cursors.drain(cursor, this::takeUnordered);
          cursors.requireSamePrimary(cursor);
        }
      } finally {
        opened.forEach(cursors::kill);
      }
    }

    /**
     * Whether what is left goes to the end of all keys and has a bound below. With one, servers
     * give no document whose key is the highest of all, which an {@code _id} may be.
     */
    private boolean isLastOfSeveral() {
      return KeyRange.isHighest(range.max()) && !KeyRange.isLowest(from);
    }

    private Cursor open(Part part) throws InterruptedException {
      return cursors.open(part.table(), part.shard(), finds.between(part.min(), part.max()));
    }

    /** Reads a part; what was read of it before a failure counts if it is sure to be all. */
    private void read(Part part, boolean ordered) throws InterruptedException {
      BsonDocument before = from;
      Cursor cursor = open(part);
      try {
        cursors.drain(cursor, ordered ? this::takeOrdered : this::takeUnordered);
        cursors.requireSamePrimary(cursor);
      } catch (RuntimeException failure) {
        if (!cursors.isSamePrimary(cursor)) {
          from = before;
        }
        throw failure;
      }
    }

    private void takeOrdered(List<RawBsonDocument> documents) throws InterruptedException {
      takeUnordered(documents);
      if (collection.index() != null && !called.withoutIndex()) {
        from = after(documents.get(documents.size() - 1));
      }
    }

    private void takeUnordered(List<RawBsonDocument> documents) throws InterruptedException {
      List<RawBsonDocument> taken = documents;
      if (collection.spec().isCapped()) {
        // Those that were there when it began to be read.
        taken =
            documents.stream()
                .filter(document -> RangeFinds.recordId(document) <= newest)
                .map(RangeFinds::withoutRecordId)
                .toList();
      }
      if (!taken.isEmpty()) {
        sink.take(taken);
      }
    }

    /** Where a document's key may be several, what was read before it does not count. */
    private BsonDocument after(RawBsonDocument last) {
      try {
        return pattern.keyDocumentOf(last);
      } catch (ShardKeyException array) {
        return from;
      }
    }
  }
}
