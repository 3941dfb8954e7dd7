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
 * Reads the documents of ranges from the primaries of the shards that own the ranges. Each part of
 * a range is read with a shard version. A shard that no longer owns the part refuses the command.
 * If a range moves while a cursor is open, the cursor still returns all documents of the range from
 * the time when it was opened. Later changes of these documents are in the change streams.
 *
 * <p>All reads have majority read concern, at or after the job's start. When the connection to a
 * server is lost, a part of a range is read again. Some documents are then returned twice.
 *
 * <p>Thread-safe.
 *
 * @param start the earliest cluster time of a read
 */
record RangeReader(ClusterEnd source, Mapping mapping, BsonTimestamp start, int batchSize) {
  /** Receives the documents. */
  interface Sink {
    /**
     * Called when the read of a capped collection starts at the oldest document. It is called again
     * if the read starts again after a failure. The documents that were taken before do not count
     * then.
     */
    void begin() throws InterruptedException;

    /** Takes a batch of at least one document, in the order of the index. */
    void take(List<RawBsonDocument> documents) throws InterruptedException;
  }

  /**
   * Reads all documents of a range.
   *
   * @throws InterruptedException if the thread is interrupted
   */
  void read(CopiedCollection collection, KeyRange range, Sink sink) throws InterruptedException {
    new Reading(collection, range, sink).run();
  }

  private static boolean isGone(RuntimeException failure) {
    return failure instanceof CommandFailure refusal
        && refusal.code() == ErrorCodes.NAMESPACE_NOT_FOUND;
  }

  private static boolean isStale(RuntimeException failure) {
    return failure instanceof CommandFailure refusal
        && (ErrorCodes.isStale(refusal.code()) || refusal.code() == ErrorCodes.SHARD_NOT_FOUND);
  }

  /** A part of a range that one shard owns. */
  private record Part(
      @Nullable RoutingTable table, String shard, BsonDocument min, BsonDocument max) {}

  /** The read of a range. After a failure it continues from the last key that it has read. */
  private final class Reading {
    private final CopiedCollection collection;
    private final ShardKeyPattern pattern;
    private final KeyRange range;
    private final Sink sink;
    private Name called;
    private BsonDocument from;
    // The table of the current attempt, and a table that a shard refused in the attempt before.
    private @Nullable RoutingTable table;
    private @Nullable RoutingTable refused;
    // In a capped collection: the record id of the newest document to read.
    private long newest;

    Reading(CopiedCollection collection, KeyRange range, Sink sink) {
      this.collection = collection;
      this.pattern = ShardKeyPattern.of(collection.key());
      this.range = range;
      this.sink = sink;
      this.called = new Name(collection.spec().stored(), collection.spec().uuid(), false);
      this.from = range.min();
    }

    void run() throws InterruptedException {
      for (int tries = 1; ; tries++) {
        BsonDocument before = from;
        try {
          attempt();
          return;
        } catch (RenamedException renamed) {
          called = renamed.name;
        } catch (RuntimeException failure) {
          if (isGone(failure)) {
            // The collection was dropped. Events remove its documents at the destination.
            return;
          }
          if (!Waits.isPassing(failure)) {
            throw failure;
          }
          if (!from.equals(before)) {
            tries = 1;
          }
          refused = isStale(failure) ? table : null;
          if (refused == null || tries > 1) {
            Waits.pause("reading " + collection.spec().namespace(), failure, tries);
          }
        }
      }
    }

    private PrimaryCursors cursors() {
      return new PrimaryCursors(source, called, batchSize);
    }

    private RangeFinds finds() {
      BsonDocument filter = mapping.filter(collection.spec().namespace());
      return new RangeFinds(collection, called, filter, start, batchSize);
    }

    /** Reads to the end of the range, or until a failure. */
    private void attempt() throws InterruptedException {
      table = null;
      newest = Long.MAX_VALUE;
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

    /** Reads the rest of the range from the only shard that has the collection. */
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
     * Reads the documents that a capped collection has at the beginning of the read. All of them
     * fit into the destination's collection, so that it removes no document. The events insert the
     * later documents.
     */
    private void readCapped(Part part) throws InterruptedException {
      sink.begin();
      Cursor backwards = cursors().open(part.table(), part.shard(), finds().newest());
      List<RawBsonDocument> last = CursorReplies.documents(backwards.reply());
      if (last.isEmpty()) {
        cursors().requireSamePrimary(backwards);
        return;
      }
      newest = RangeFinds.recordId(last.get(0));
      Cursor cursor = open(part);
      if (!cursor.tenure().equals(backwards.tenure())) {
        cursors().kill(cursor);
        throw PrimaryCursors.replaced();
      }
      cursors().drain(cursor, this::takeUnordered);
      cursors().requireSamePrimary(cursor);
    }

    /**
     * The first part of the rest of the range: all adjacent chunks that the owner of the first key
     * owns.
     */
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
     * Reads from all shards, because the shard key has changed or the index of the ranges no longer
     * exists. All cursors are opened with the shard versions of one routing table before the first
     * cursor is read. A document that moves during the read is therefore found on exactly one
     * shard.
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
          cursors().drain(cursor, this::takeUnordered);
          cursors().requireSamePrimary(cursor);
        }
      } finally {
        opened.forEach(cursors()::kill);
      }
    }

    /**
     * Whether the rest of the range has a lower bound and extends to the end of all keys. Such a
     * range needs a second read for a document whose key is MaxKey, because servers leave it out in
     * a read with bounds.
     */
    private boolean isLastOfSeveral() {
      return KeyRange.isHighest(range.max()) && !KeyRange.isLowest(from);
    }

    private Cursor open(Part part) throws InterruptedException {
      return cursors().open(part.table(), part.shard(), finds().between(part.min(), part.max()));
    }

    /**
     * Reads a part. After a failure, the documents that were read count only if the server is still
     * the same primary.
     */
    private void read(Part part, boolean ordered) throws InterruptedException {
      BsonDocument before = from;
      Cursor cursor = open(part);
      try {
        cursors().drain(cursor, ordered ? this::takeOrdered : this::takeUnordered);
        cursors().requireSamePrimary(cursor);
      } catch (RuntimeException failure) {
        if (!cursors().isSamePrimary(cursor)) {
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
        // Documents that were inserted after the read began are left out.
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

    /**
     * The key from which the read continues after a document. If the document has an array in the
     * key, the read continues from the same key as before.
     */
    private BsonDocument after(RawBsonDocument last) {
      try {
        return pattern.keyDocumentOf(last);
      } catch (ShardKeyException array) {
        return from;
      }
    }
  }
}
