package dev.onehop.copy.internal.full;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyPattern;
import dev.onehop.routing.spi.cursor.CursorReplies;
import dev.onehop.routing.spi.shard.CommandFailure;
import dev.onehop.routing.spi.shard.ErrorCodes;
import dev.onehop.routing.spi.shard.ReplicaSet;
import dev.onehop.routing.spi.shard.ReplicaSet.Answer;
import dev.onehop.routing.spi.shard.VersionFormat;
import dev.onehop.routing.spi.wire.OpMsg;
import dev.onehop.routing.spi.wire.ServerAddressName;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Reads the documents of ranges from the primaries of the shards that own them, each part with a
 * shard version, so that a shard which does not own it any more refuses. A cursor that is open goes
 * on with what it began with, wherever the range moves; its changes are in the change streams.
 *
 * <p>All reads are of what the majority has, not before the job's start. When a server is lost, a
 * range is read on from the last key that came, so a document may come twice.
 *
 * <p>Thread-safe.
 */
final class RangeReader {
  private static final BsonDocument PRIMARY =
      new BsonDocument("mode", new BsonString("primary"));

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
  @FunctionalInterface
  interface Sink {
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
    for (int tries = 1; ; tries++) {
      Attempt attempt = new Attempt(collection, range, from, refused, sink);
      try {
        attempt.run();
        return;
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

  /** A cursor that is open at a server. */
  private record Cursor(ReplicaSet set, ServerAddressName server, BsonDocument reply) {
    long id() {
      return CursorReplies.id(reply);
    }
  }

  /** Reads on from a key until something fails. */
  private final class Attempt {
    private final CopiedCollection collection;
    private final String database;
    private final String name;
    private final ShardKeyPattern pattern;
    private final KeyRange range;
    private final Sink sink;
    private BsonDocument from;
    private @Nullable RoutingTable refused;
    private @Nullable RoutingTable table;

    Attempt(
        CopiedCollection collection,
        KeyRange range,
        BsonDocument from,
        @Nullable RoutingTable refused,
        Sink sink) {
      String stored = collection.spec().stored();
      this.collection = collection;
      this.database = Mapping.databaseOf(stored);
      this.name = stored.substring(database.length() + 1);
      this.pattern = ShardKeyPattern.of(collection.key());
      this.range = range;
      this.from = from;
      this.refused = refused;
      this.sink = sink;
    }

    void run() throws InterruptedException {
      if (!source.isSharded()) {
        drain(open(new Part(null, ClusterEnd.ALONE, from, range.max())), true);
        return;
      }
      while (!from.equals(range.max())) {
        RoutingTable now =
            Waits.one(source.servers().table(collection.spec().stored(), refused));
        table = now;
        refused = null;
        if (!now.isSharded()) {
          drain(open(new Part(now, now.primaryShard(), from, range.max())), true);
          return;
        }
        if (!now.shardKeyPattern().equals(pattern) || collection.index() == null) {
          readEverywhere(now);
          return;
        }
        Part part = part(now);
        drain(open(part), true);
        from = part.max();
      }
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
      List<Cursor> cursors = new ArrayList<>();
      try {
        for (String shard : now.shards()) {
          cursors.add(open(new Part(now, shard, from, range.max())));
        }
        while (!cursors.isEmpty()) {
          drain(cursors.remove(0), false);
        }
      } finally {
        cursors.forEach(this::kill);
      }
    }

    private Cursor open(Part part) throws InterruptedException {
      BsonDocument find =
          new BsonDocument("find", new BsonString(name))
              .append("batchSize", new BsonInt32(batchSize))
              .append(
                  "readConcern",
                  new BsonDocument("level", new BsonString("majority"))
                      .append("afterClusterTime", start))
              .append("$readPreference", PRIMARY)
              .append("$db", new BsonString(database));
      BsonDocument filter = mapping.filter(collection.spec().namespace());
      if (filter != null) {
        find.append("filter", filter);
      }
      BsonDocument index = collection.index();
      if (index == null) {
        find.append("hint", new BsonDocument("$natural", new BsonInt32(1)));
      } else {
        find.append("hint", index);
        if (!KeyRange.isLowest(part.min())) {
          find.append("min", extended(part.min(), index));
        }
        if (!KeyRange.isHighest(part.max())) {
          find.append("max", extended(part.max(), index));
        }
      }
      source.servers().clock().gossip(find);
      OpMsg message = OpMsg.command(find);
      RoutingTable under = part.table();
      return Waits.one(
          source
              .shard(part.shard())
              .flatMap(
                  set ->
                      set.send(
                              message,
                              server ->
                                  under == null
                                      ? message
                                      : message.withFields(
                                          VersionFormat.of(server.maxWireVersion())
                                              .attach(under, part.shard())))
                          .map(answer -> cursor(set, answer))));
    }

    private Cursor cursor(ReplicaSet set, Answer answer) {
      return new Cursor(set, answer.server(), checked(answer.document()));
    }

    private BsonDocument checked(BsonDocument reply) {
      if (!ErrorCodes.ok(reply)) {
        throw CommandFailure.of(reply);
      }
      return reply;
    }

    /** Takes a cursor's documents. The next batch is on its way while one is taken. */
    private void drain(Cursor opened, boolean ordered) throws InterruptedException {
      Cursor cursor = opened;
      while (true) {
        Cursor current = cursor;
        CompletableFuture<Cursor> next = current.id() == 0 ? null : more(current).toFuture();
        try {
          List<RawBsonDocument> documents = CursorReplies.documents(current.reply());
          if (!documents.isEmpty()) {
            sink.take(documents);
            if (ordered && collection.index() != null) {
              from = pattern.keyDocumentOf(documents.get(documents.size() - 1));
            }
          }
        } catch (RuntimeException | InterruptedException | Error failure) {
          if (next != null) {
            kill(current);
          }
          throw failure;
        }
        if (next == null) {
          return;
        }
        cursor = Waits.one(Mono.fromFuture(next));
      }
    }

    private Mono<Cursor> more(Cursor cursor) {
      BsonDocument getMore =
          new BsonDocument("getMore", new BsonInt64(cursor.id()))
              .append("collection", new BsonString(name))
              .append("batchSize", new BsonInt32(batchSize))
              .append("$db", new BsonString(database));
      source.servers().clock().gossip(getMore);
      return cursor
          .set()
          .sendTo(cursor.server(), OpMsg.command(getMore))
          .map(answer -> cursor(cursor.set(), answer));
    }

    private void kill(Cursor cursor) {
      if (cursor.id() == 0) {
        return;
      }
      BsonDocument kill =
          new BsonDocument("killCursors", new BsonString(name))
              .append("cursors", new BsonArray(List.of(new BsonInt64(cursor.id()))))
              .append("$db", new BsonString(database));
      cursor
          .set()
          .sendTo(cursor.server(), OpMsg.command(kill))
          .onErrorComplete()
          .subscribe();
    }
  }

  /** A bound of an index that has more fields than the key: before all that begin with it. */
  private static BsonDocument extended(BsonDocument bound, BsonDocument index) {
    BsonDocument extended = new BsonDocument();
    for (Map.Entry<String, BsonValue> field : index.entrySet()) {
      BsonValue value = bound.get(field.getKey());
      if (value == null) {
        boolean descending =
            field.getValue().isNumber() && field.getValue().asNumber().doubleValue() < 0;
        value = descending ? new BsonMaxKey() : new BsonMinKey();
      }
      extended.append(field.getKey(), value);
    }
    return extended;
  }
}
