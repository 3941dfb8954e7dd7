package dev.onehop.shards.cursor;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Builds and reads the {@code cursor} part of replies. */
public final class CursorReplies {
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();
  private static final BsonPath FIRST = BsonPath.of("cursor.firstBatch");
  private static final BsonPath NEXT = BsonPath.of("cursor.nextBatch");
  private static final String PARTIAL = "partialResultsReturned";

  private CursorReplies() {}

  public static BsonDocument first(String namespace, long id, List<? extends BsonDocument> batch) {
    return reply("firstBatch", namespace, id, batch);
  }

  public static BsonDocument next(String namespace, long id, List<? extends BsonDocument> batch) {
    return reply("nextBatch", namespace, id, batch);
  }

  private static BsonDocument reply(
      String name, String namespace, long id, List<? extends BsonDocument> batch) {
    return new BsonDocument(
            "cursor",
            new BsonDocument(name, new BsonArray(List.copyOf(batch)))
                .append("id", new BsonInt64(id))
                .append("ns", new BsonString(namespace)))
        .append("ok", new BsonDouble(1));
  }

  public static long id(BsonDocument reply) {
    return ErrorCodes.ok(reply) && reply.isDocument("cursor")
        ? reply.getDocument("cursor").getNumber("id").longValue()
        : 0;
  }

  /** The documents of a cursor's first or later batch. */
  public static List<RawBsonDocument> documents(BsonDocument reply) {
    List<RawBsonDocument> views = reply instanceof RawBsonDocument raw ? views(raw) : null;
    if (views != null) {
      return views;
    }
    BsonDocument cursor = reply.getDocument("cursor");
    BsonArray batch =
        cursor.containsKey("firstBatch")
            ? cursor.getArray("firstBatch")
            : cursor.getArray("nextBatch");
    return batch.stream().map(BsonValue::asDocument).map(CursorReplies::raw).toList();
  }

  /** The documents of a batch in a server's reply, in one pass over its bytes. */
  private static @Nullable List<RawBsonDocument> views(RawBsonDocument reply) {
    BsonPath.Located next = NEXT.find(reply);
    BsonPath.Located batch = next == null ? FIRST.find(reply) : next;
    return batch == null ? null : batch.documents();
  }

  /** Encodes a document. A document from a received message is encoded already. */
  private static RawBsonDocument raw(BsonDocument document) {
    return document instanceof RawBsonDocument raw ? raw : new RawBsonDocument(document, CODEC);
  }

  /** The reply to a shard's getMore; fails if the reply is an error. */
  public static Mono<BsonDocument> refuseFailed(BsonDocument reply) {
    return ErrorCodes.ok(reply) ? Mono.just(reply) : Mono.error(CommandFailure.of(reply));
  }

  public static BsonDocument withId(BsonDocument reply, long id) {
    return with(reply, "id", new BsonInt64(id));
  }

  /** Marks a reply as partial, because unreachable shards are left out. */
  public static BsonDocument partial(BsonDocument reply) {
    return with(reply, PARTIAL, BsonBoolean.TRUE);
  }

  public static boolean isPartial(BsonDocument reply) {
    return BsonBoolean.TRUE.equals(reply.getDocument("cursor").get(PARTIAL));
  }

  private static BsonDocument with(BsonDocument reply, String field, BsonValue value) {
    BsonDocument cursor = new BsonDocument();
    cursor.putAll(reply.getDocument("cursor"));
    cursor.put(field, value);
    BsonDocument copy = new BsonDocument();
    copy.putAll(reply);
    copy.put("cursor", cursor);
    return copy;
  }
}
