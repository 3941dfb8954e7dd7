package dev.onehop.copy.internal.full;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyException;
import dev.onehop.core.table.ShardKeyPattern;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cluster.VersionFormat;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.ByteBuf;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Reads the documents of ranges from the primaries of the shards that own them, each part with a
 * shard version, so that a shard which does not own it any more refuses. A cursor that is open goes
 * on with what it began with, wherever the range moves; its changes are in the change streams. Only
 * the primary knows of its cursors, and keeps for them what has moved away. Another primary may
 * remove that, and a cursor of the one before would not tell. So what was read counts if the server
 * was the primary from before it was read until after.
 *
 * <p>All reads are of what the majority has, not before the job's start. When a server is lost, a
 * part of a range is read again, so a document may come twice.
 *
 * <p>Thread-safe.
 */
final class RangeReader {
  private static final BsonDocument PRIMARY = new BsonDocument("mode", new BsonString("primary"));

  private static final BsonDocument SIMPLE = new BsonDocument("locale", new BsonString("simple"));

  private static final OpMsg HELLO =
      OpMsg.command(ClusterEnd.command("hello").append("$db", new BsonString("admin")));

  private static final String RECORD_ID = "$recordId";

  // Its type, its name, and 64 bits.
  private static final int RECORD_ID_BYTES = 1 + RECORD_ID.length() + 1 + Long.BYTES;

  private static final int PRIMARY_STEPPED_DOWN = 189;
  private static final int COLLECTION_UUID_MISMATCH = 361;
  private static final int WIRE_VERSION_6_0 = 17;

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
        name = renamed.name;
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

  /**
   * What a collection is called now.
   *
   * @param uuid the servers check that it is still that; null if that can't be checked any more: it
   *     was resharded, which gave it another one, or dropped, and what may have its name now has
   *     come with events that drop it first
   * @param withoutIndex whether the index of the ranges is gone, so that everything is read
   */
  private record Name(String namespace, @Nullable BsonBinary uuid, boolean withoutIndex) {}

  /** A collection has another name, or is another one. Control flow, so no stack trace. */
  private static final class RenamedException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient Name name;

    RenamedException(Name name) {
      super("renamed", null, false, false);
      this.name = name;
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

  /** Since when a server is the primary of its shard. */
  private record Tenure(ServerAddressName server, BsonValue election) {}

  /** A cursor that is open at a server. */
  private record Cursor(ReplicaSet set, Tenure tenure, BsonDocument reply) {
    ServerAddressName server() {
      return tenure.server();
    }

    long id() {
      return CursorReplies.id(reply);
    }
  }

  /** Reads on from a key until something fails. */
  private final class Attempt {
    private final CopiedCollection collection;
    private final Name called;
    private final String database;
    private final String name;
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
      this.database = Mapping.databaseOf(called.namespace());
      this.name = called.namespace().substring(database.length() + 1);
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
      Cursor backwards = open(part, last());
      List<RawBsonDocument> last = CursorReplies.documents(backwards.reply());
      if (last.isEmpty()) {
        requireSamePrimary(backwards);
        return;
      }
      newest = last.get(0).getInt64(RECORD_ID).getValue();
      Cursor cursor = open(part);
      if (!cursor.tenure().equals(backwards.tenure())) {
        kill(cursor);
        throw replaced();
      }
      drain(cursor, false);
      requireSamePrimary(cursor);
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
          if (isLastOfSeveral()) {
            cursors.add(open(new Part(now, shard, range.max(), range.max())));
          }
        }
        while (!cursors.isEmpty()) {
          Cursor cursor = cursors.remove(0);
          drain(cursor, false);
          requireSamePrimary(cursor);
        }
      } finally {
        cursors.forEach(this::kill);
      }
    }

    /**
     * Whether what is left goes to the end of all keys and has a bound below. With one, servers
     * give no document whose key is the highest of all, which an {@code _id} may be.
     */
    private boolean isLastOfSeveral() {
      return KeyRange.isHighest(range.max()) && !KeyRange.isLowest(from);
    }

    private BsonDocument find() {
      return new BsonDocument("find", new BsonString(name))
          .append("batchSize", new BsonInt32(batchSize))
          .append(
              "readConcern",
              new BsonDocument("level", new BsonString("majority"))
                  .append("afterClusterTime", start))
          .append("$readPreference", PRIMARY)
          .append("$db", new BsonString(database));
    }

    /** Finds the newest document of a capped collection. */
    private BsonDocument last() {
      return find()
          .append("hint", new BsonDocument("$natural", new BsonInt32(-1)))
          .append("limit", new BsonInt32(1))
          .append("singleBatch", BsonBoolean.TRUE)
          .append("showRecordId", BsonBoolean.TRUE);
    }

    private BsonDocument find(Part part) {
      BsonDocument find = find();
      List<BsonDocument> filters = new ArrayList<>();
      BsonDocument filter = mapping.filter(collection.spec().namespace());
      if (filter != null) {
        filters.add(filter);
      }
      boolean highest = KeyRange.isHighest(part.min());
      if (highest) {
        collection
            .key()
            .forEach(
                (field, direction) ->
                    filters.add(
                        new BsonDocument(
                            field,
                            new BsonDocument(
                                "$eq",
                                isDescending(direction) ? new BsonMinKey() : new BsonMaxKey()))));
      }
      if (!filters.isEmpty()) {
        find.append("filter", new BsonDocument("$and", new BsonArray(filters)));
      }
      BsonDocument index = called.withoutIndex() ? null : collection.index();
      if (index == null) {
        find.append("hint", new BsonDocument("$natural", new BsonInt32(1)));
        if (collection.spec().isCapped()) {
          find.append("showRecordId", BsonBoolean.TRUE);
        }
      } else {
        BsonDocument fields = index.getDocument("key");
        if (index.containsKey("name")) {
          // That of a shard key, which has no collation.
          find.append("hint", index.get("name"));
          find.append("collation", SIMPLE);
        } else {
          find.append("hint", fields);
        }
        if (!highest && !KeyRange.isLowest(part.min())) {
          find.append("min", extended(part.min(), fields));
        }
        if (!highest && !KeyRange.isHighest(part.max())) {
          find.append("max", extended(part.max(), fields));
        }
      }
      return find;
    }

    private Cursor open(Part part) throws InterruptedException {
      return open(part, find(part));
    }

    private Cursor open(Part part, BsonDocument find) throws InterruptedException {
      source.servers().clock().gossip(find);
      OpMsg message = OpMsg.command(find);
      RoutingTable under = part.table();
      return Waits.one(
          source
              .shard(part.shard())
              .flatMap(
                  set ->
                      set.send(HELLO)
                          .map(RangeReader::tenure)
                          .flatMap(
                              tenure ->
                                  set.send(
                                          message,
                                          server ->
                                              message.withFields(
                                                  fields(
                                                      under,
                                                      part.shard(),
                                                      server.maxWireVersion())))
                                      .map(answer -> cursor(set, tenure, answer)))));
    }

    /** What a server of its version checks before it reads. */
    private BsonDocument fields(@Nullable RoutingTable under, String shard, int wireVersion) {
      BsonDocument fields =
          under == null ? new BsonDocument() : VersionFormat.of(wireVersion).attach(under, shard);
      if (called.uuid() != null && wireVersion >= WIRE_VERSION_6_0 && source.takesUuids()) {
        fields.append("collectionUUID", called.uuid());
      }
      return fields;
    }

    private Cursor cursor(ReplicaSet set, Tenure tenure, Answer answer) {
      Cursor cursor =
          new Cursor(
              set, new Tenure(answer.server(), tenure.election()), checked(answer.document()));
      if (!tenure.equals(cursor.tenure())) {
        kill(cursor);
        throw replaced();
      }
      return cursor;
    }

    /** Reads a part; what was read of it before a failure counts if it is sure to be all. */
    private void read(Part part, boolean ordered) throws InterruptedException {
      BsonDocument before = from;
      Cursor cursor = open(part);
      try {
        drain(cursor, ordered);
        requireSamePrimary(cursor);
      } catch (RuntimeException failure) {
        if (!isSamePrimary(cursor)) {
          from = before;
        }
        throw failure;
      }
    }

    private boolean isSamePrimary(Cursor cursor) throws InterruptedException {
      try {
        requireSamePrimary(cursor);
        return true;
      } catch (RuntimeException unknown) {
        return false;
      }
    }

    private void requireSamePrimary(Cursor cursor) throws InterruptedException {
      Tenure now = tenure(Waits.one(cursor.set().sendTo(cursor.server(), HELLO)));
      if (!now.equals(cursor.tenure())) {
        throw replaced();
      }
    }

    private BsonDocument checked(BsonDocument reply) {
      if (!ErrorCodes.ok(reply)) {
        if (ErrorCodes.of(reply) == COLLECTION_UUID_MISMATCH) {
          throw new RenamedException(
              reply.get("actualCollection") instanceof BsonString actual
                  ? new Name(database + "." + actual.getValue(), called.uuid(), false)
                  : new Name(called.namespace(), null, called.withoutIndex()));
        }
        if (source.isUuidRefused(reply)) {
          throw new RenamedException(called);
        }
        if (ErrorCodes.of(reply) == ErrorCodes.BAD_VALUE && !called.withoutIndex()) {
          // The hint names no index.
          throw new RenamedException(new Name(called.namespace(), called.uuid(), true));
        }
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
          List<RawBsonDocument> documents = taken(CursorReplies.documents(current.reply()));
          if (!documents.isEmpty()) {
            sink.take(documents);
            if (ordered && collection.index() != null && !called.withoutIndex()) {
              from = after(documents.get(documents.size() - 1));
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

    /** Of a capped collection those that were there when it began to be read. */
    private List<RawBsonDocument> taken(List<RawBsonDocument> documents) {
      return collection.spec().isCapped()
          ? documents.stream()
              .filter(document -> document.getInt64(RECORD_ID).getValue() <= newest)
              .map(RangeReader::withoutRecordId)
              .toList()
          : documents;
    }

    /** Where a document's key may be several, what was read before it does not count. */
    private BsonDocument after(RawBsonDocument last) {
      try {
        return pattern.keyDocumentOf(last);
      } catch (ShardKeyException array) {
        return from;
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
          .map(answer -> new Cursor(cursor.set(), cursor.tenure(), checked(answer.document())));
    }

    private void kill(Cursor cursor) {
      if (cursor.id() == 0) {
        return;
      }
      BsonDocument kill =
          new BsonDocument("killCursors", new BsonString(name))
              .append("cursors", new BsonArray(List.of(new BsonInt64(cursor.id()))))
              .append("$db", new BsonString(database));
      cursor.set().sendTo(cursor.server(), OpMsg.command(kill)).onErrorComplete().subscribe();
    }
  }

  /** The document's own bytes: servers add the field at the end. */
  private static RawBsonDocument withoutRecordId(RawBsonDocument document) {
    ByteBuf bytes = document.getByteBuffer();
    int length = bytes.remaining() - RECORD_ID_BYTES;
    byte[] own = new byte[length];
    bytes.get(own, 0, length - 1);
    ByteBuffer.wrap(own).order(ByteOrder.LITTLE_ENDIAN).putInt(0, length);
    return new RawBsonDocument(own);
  }

  private static Tenure tenure(Answer hello) {
    BsonValue election = hello.document().get("electionId");
    if (election == null) {
      throw replaced();
    }
    return new Tenure(hello.server(), election);
  }

  private static CommandFailure replaced() {
    return new CommandFailure(
        PRIMARY_STEPPED_DOWN, "PrimarySteppedDown", "another primary was elected", List.of());
  }

  private static boolean isDescending(BsonValue direction) {
    return direction.isNumber() && direction.asNumber().doubleValue() < 0;
  }

  /** A bound of an index that has more fields than the key: before all that begin with it. */
  private static BsonDocument extended(BsonDocument bound, BsonDocument index) {
    BsonDocument extended = new BsonDocument();
    for (Map.Entry<String, BsonValue> field : index.entrySet()) {
      BsonValue value = bound.get(field.getKey());
      if (value == null) {
        value = isDescending(field.getValue()) ? new BsonMaxKey() : new BsonMinKey();
      }
      extended.append(field.getKey(), value);
    }
    return extended;
  }
}
