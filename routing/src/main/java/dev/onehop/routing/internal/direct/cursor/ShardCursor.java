package dev.onehop.routing.internal.direct.cursor;

import dev.onehop.routing.internal.direct.cursor.Cursors.OpenCursor;
import dev.onehop.routing.internal.direct.shard.ReplicaSet;
import dev.onehop.routing.internal.direct.shard.ReplicaSet.Answer;
import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.internal.wire.ServerAddressName;
import java.time.Duration;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import reactor.core.publisher.Mono;

/**
 * A cursor at one server. It keeps the ownership that it was opened with, so it is read to its end
 * where it is, whatever moves.
 */
public final class ShardCursor implements OpenCursor {
  private static final List<String> SESSION_FIELDS =
      List.of("lsid", "txnNumber", "autocommit", "$clusterTime", "apiVersion");

  private final ReplicaSet replicaSet;
  private final ServerAddressName server;
  private final String database;
  private final String collection;
  private final BsonDocument session;
  private final long id;
  private final boolean neverTimesOut;

  /**
   * @param opening the command that opened it; its session is the cursor's
   * @param answer the reply with the first batch
   */
  public ShardCursor(ReplicaSet replicaSet, OpMsg opening, Answer answer) {
    this.replicaSet = replicaSet;
    this.server = answer.server();
    BsonDocument cursor = answer.document().getDocument("cursor");
    String namespace = cursor.getString("ns").getValue();
    int dot = namespace.indexOf('.');
    this.database = namespace.substring(0, dot);
    this.collection = namespace.substring(dot + 1);
    this.id = cursor.getNumber("id").longValue();
    this.neverTimesOut = BsonBoolean.TRUE.equals(opening.body().get("noCursorTimeout"));
    this.session = new BsonDocument();
    for (String field : SESSION_FIELDS) {
      BsonValue value = opening.body().get(field);
      if (value != null) {
        session.append(field, value);
      }
    }
  }

  public long id() {
    return id;
  }

  @Override
  public boolean neverTimesOut() {
    return neverTimesOut;
  }

  @Override
  public Mono<BsonDocument> getMore(BsonDocument command, long clientId) {
    BsonDocument forwarded = new BsonDocument();
    command.forEach(forwarded::append);
    forwarded.put("getMore", new BsonInt64(id));
    return replicaSet
        .sendTo(server, OpMsg.command(forwarded))
        .map(Answer::document)
        .map(
            reply -> {
              long next = CursorReplies.id(reply);
              return next == 0 || clientId == id ? reply : CursorReplies.withId(reply, clientId);
            });
  }

  /** The next batch for a merge; empty and finished when the id in the reply is 0. */
  Mono<BsonDocument> next(int batchSize) {
    BsonDocument command =
        new BsonDocument("getMore", new BsonInt64(id))
            .append("collection", new BsonString(collection));
    if (batchSize > 0) {
      command.append("batchSize", new BsonInt32(batchSize));
    }
    command.append("$db", new BsonString(database));
    command.putAll(session);
    return replicaSet.sendTo(server, OpMsg.command(command)).map(Answer::document);
  }

  /** The next batch of a tailable cursor, for which the server may wait a while. */
  public Mono<BsonDocument> awaitNext(Duration wait) {
    BsonDocument command =
        new BsonDocument("getMore", new BsonInt64(id))
            .append("collection", new BsonString(collection))
            .append("maxTimeMS", new BsonInt64(Math.max(1, wait.toMillis())))
            .append("$db", new BsonString(database));
    command.putAll(session);
    return replicaSet.sendTo(server, OpMsg.command(command)).map(Answer::document);
  }

  @Override
  public Mono<Void> kill() {
    BsonDocument command =
        new BsonDocument("killCursors", new BsonString(collection))
            .append("cursors", new BsonArray(List.of(new BsonInt64(id))))
            .append("$db", new BsonString(database));
    if (session.containsKey("lsid")) {
      command.append("lsid", session.get("lsid"));
    }
    return replicaSet.sendTo(server, OpMsg.command(command)).onErrorComplete().then();
  }
}
