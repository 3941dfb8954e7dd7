package dev.onehop.copy.internal.full;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cluster.VersionFormat;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Cursors on the primaries of the shards that own a part of a collection. Each cursor is opened
 * with a shard version. If a range moves away, the old owner's primary keeps the documents of the
 * range until its open cursors are closed. After an election, the new primary has no such cursors
 * and may delete these documents. A cursor on the old primary would then miss documents without an
 * error. The documents of a cursor therefore count only if its server was the same primary before
 * and after the read.
 *
 * <p>Thread-safe.
 */
record PrimaryCursors(ClusterEnd source, Name called, int batchSize) {
  private static final OpMsg HELLO =
      OpMsg.command(ClusterEnd.command("hello").append("$db", new BsonString("admin")));

  private static final int PRIMARY_STEPPED_DOWN = 189;
  private static final int WIRE_VERSION_6_0 = 17;

  /**
   * The current name of a collection.
   *
   * @param uuid the UUID that servers compare with the collection's UUID. Null if servers can't
   *     compare it, because a resharding has changed it or the collection was dropped. A new
   *     collection may have the name of the dropped one. The events then drop the old collection at
   *     the destination before they create the new one
   * @param withoutIndex whether the index of the ranges no longer exists, so that the whole
   *     collection is read
   */
  record Name(String namespace, @Nullable BsonBinary uuid, boolean withoutIndex) {
    String database() {
      return Mapping.databaseOf(namespace);
    }

    BsonString collection() {
      return new BsonString(Mapping.collectionOf(namespace));
    }
  }

  /**
   * Thrown if the collection's name, UUID or index can no longer be used. The exception only
   * changes the control flow, so it has no stack trace.
   */
  static final class RenamedException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    final transient Name name;

    RenamedException(Name name) {
      super("renamed", null, false, false);
      this.name = name;
    }
  }

  /** A server that is a primary, and the election that made it one. */
  record Tenure(ServerAddressName server, BsonValue election) {}

  /** An open cursor on a server, with its last reply. */
  record Cursor(ReplicaSet set, Tenure tenure, BsonDocument reply) {
    ServerAddressName server() {
      return tenure.server();
    }

    long id() {
      return CursorReplies.id(reply);
    }
  }

  /** Takes a batch of one or more documents. */
  @FunctionalInterface
  interface Batches {
    void take(List<RawBsonDocument> documents) throws InterruptedException;
  }

  /**
   * Opens a cursor.
   *
   * @param under the routing table that gives the shard version; null for a replica set
   */
  Cursor open(@Nullable RoutingTable under, String shard, BsonDocument find)
      throws InterruptedException {
    source.servers().clock().gossip(find);
    OpMsg message = OpMsg.command(find);
    ReplicaSet set = Waits.one(source.shard(shard));
    Tenure tenure = tenure(Waits.one(set.send(HELLO)));
    Answer answer =
        Waits.one(
            set.send(
                message,
                server -> message.withFields(fields(under, shard, server.maxWireVersion()))));
    Cursor cursor =
        new Cursor(set, new Tenure(answer.server(), tenure.election()), checked(answer.document()));
    if (!tenure.equals(cursor.tenure())) {
      kill(cursor);
      throw replaced();
    }
    return cursor;
  }

  /**
   * The fields of a command that a server checks before it reads: the shard version and the
   * collection's UUID.
   *
   * @param wireVersion the server's version
   */
  private BsonDocument fields(@Nullable RoutingTable under, String shard, int wireVersion) {
    BsonDocument fields =
        under == null ? new BsonDocument() : VersionFormat.of(wireVersion).attach(under, shard);
    if (called.uuid() != null && wireVersion >= WIRE_VERSION_6_0 && source.takesUuids()) {
      fields.append("collectionUUID", called.uuid());
    }
    return fields;
  }

  /**
   * Whether the server of a cursor is still the same primary. The result is also false if this is
   * unknown.
   */
  boolean isSamePrimary(Cursor cursor) throws InterruptedException {
    try {
      requireSamePrimary(cursor);
      return true;
    } catch (RuntimeException unknown) {
      return false;
    }
  }

  void requireSamePrimary(Cursor cursor) throws InterruptedException {
    Tenure now = tenure(Waits.one(cursor.set().sendTo(cursor.server(), HELLO)));
    if (!now.equals(cursor.tenure())) {
      throw replaced();
    }
  }

  private BsonDocument checked(BsonDocument reply) {
    if (!ErrorCodes.ok(reply)) {
      if (ErrorCodes.of(reply) == ErrorCodes.COLLECTION_UUID_MISMATCH) {
        throw new RenamedException(
            reply.get("actualCollection") instanceof BsonString actual
                ? new Name(called.database() + "." + actual.getValue(), called.uuid(), false)
                : new Name(called.namespace(), null, called.withoutIndex()));
      }
      if (source.isUuidRefused(reply)) {
        throw new RenamedException(called);
      }
      if (ErrorCodes.of(reply) == ErrorCodes.BAD_VALUE && !called.withoutIndex()) {
        // The index in the command's hint does not exist.
        throw new RenamedException(new Name(called.namespace(), called.uuid(), true));
      }
      throw CommandFailure.of(reply);
    }
    return reply;
  }

  /**
   * Passes all documents of a cursor to a sink. The next batch is requested before a batch is
   * passed.
   */
  void drain(Cursor opened, Batches sink) throws InterruptedException {
    Cursor cursor = opened;
    while (true) {
      Cursor current = cursor;
      CompletableFuture<Cursor> next = current.id() == 0 ? null : more(current).toFuture();
      try {
        List<RawBsonDocument> documents = CursorReplies.documents(current.reply());
        if (!documents.isEmpty()) {
          sink.take(documents);
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
            .append("collection", called.collection())
            .append("batchSize", new BsonInt32(batchSize))
            .append("$db", new BsonString(called.database()));
    source.servers().clock().gossip(getMore);
    return cursor
        .set()
        .sendTo(cursor.server(), OpMsg.command(getMore))
        .map(answer -> new Cursor(cursor.set(), cursor.tenure(), checked(answer.document())));
  }

  void kill(Cursor cursor) {
    if (cursor.id() == 0) {
      return;
    }
    BsonDocument kill =
        new BsonDocument("killCursors", called.collection())
            .append("cursors", new BsonArray(List.of(new BsonInt64(cursor.id()))))
            .append("$db", new BsonString(called.database()));
    cursor.set().sendTo(cursor.server(), OpMsg.command(kill)).onErrorComplete().subscribe();
  }

  private static Tenure tenure(Answer hello) {
    BsonValue election = hello.document().get("electionId");
    if (election == null) {
      throw replaced();
    }
    return new Tenure(hello.server(), election);
  }

  static CommandFailure replaced() {
    return new CommandFailure(
        PRIMARY_STEPPED_DOWN, "PrimarySteppedDown", "another primary was elected", List.of());
  }
}
