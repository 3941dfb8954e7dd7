package dev.onehop.shards.cursor;

import dev.onehop.shards.cluster.PartialResults;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cluster.Retryability;
import dev.onehop.shards.cursor.Cursors.OpenCursor;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.OpMsg;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import reactor.core.publisher.Mono;

/**
 * A cursor at one server. It returns the documents that the shard owned when the cursor was opened.
 * Later batches therefore come from the same server, even if ranges move.
 */
public final class ShardCursor implements OpenCursor {
  private static final List<String> STABLE_API =
      List.of("apiVersion", "apiStrict", "apiDeprecationErrors");
  private static final List<String> TRANSACTION = List.of("txnNumber", "autocommit");

  private final ReplicaSet replicaSet;
  private final ServerAddressName server;
  private final String database;
  private final String collection;
  private final BsonDocument session = new BsonDocument();
  private final BsonDocument transaction = new BsonDocument();
  private final long id;
  private final boolean neverTimesOut;
  private final boolean partial;

  /**
   * @param opening the command that opened the cursor; each getMore repeats its session and its
   *     Stable API options, because servers refuse a getMore with other values
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
    this.partial = PartialResults.areAllowed(opening.body());
    copy(List.of("lsid", "$clusterTime"), opening.body(), session);
    copy(STABLE_API, opening.body(), session);
    copy(TRANSACTION, opening.body(), transaction);
  }

  private static void copy(List<String> fields, BsonDocument from, BsonDocument to) {
    for (String field : fields) {
      BsonValue value = from.get(field);
      if (value != null) {
        to.append(field, value);
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
    return sendOn(forwarded)
        .map(
            reply -> {
              long next = CursorReplies.id(reply);
              return next == 0 || clientId == id ? reply : CursorReplies.withId(reply, clientId);
            });
  }

  /**
   * The next batch for a merge. In the last batch, the cursor id is 0.
   *
   * @param batchSize the most documents, 0 for the server's limit
   */
  public Mono<BsonDocument> next(int batchSize) {
    return sendOn(getMore(batchSize));
  }

  /**
   * The next batch of a tailable cursor. If there is no new document, the server waits for at most
   * {@code wait}. Fails with a {@link CommandFailure} if the server refuses the command.
   *
   * @param batchSize the most documents, 0 for the server's limit
   */
  public Mono<BsonDocument> awaitNext(Duration wait, int batchSize) {
    BsonInt64 millis = new BsonInt64(Math.max(1, wait.toMillis()));
    return replicaSet
        .sendTo(server, OpMsg.command(getMore(batchSize).append("maxTimeMS", millis)))
        .flatMap(Answer::orFailure)
        .map(Answer::document);
  }

  private BsonDocument getMore(int batchSize) {
    BsonDocument command =
        new BsonDocument("getMore", new BsonInt64(id))
            .append("collection", new BsonString(collection))
            .append("$db", new BsonString(database));
    if (batchSize > 0) {
      command.append("batchSize", new BsonInt32(batchSize));
    }
    command.putAll(session);
    command.putAll(transaction);
    return command;
  }

  /**
   * Sends a getMore. If the client allows partial results and the server is lost, the cursor ends
   * without an error.
   */
  private Mono<BsonDocument> sendOn(BsonDocument getMore) {
    Mono<BsonDocument> sent =
        replicaSet.sendTo(server, OpMsg.command(getMore)).map(Answer::document);
    return partial
        ? sent.flatMap(
                reply ->
                    Retryability.READ.isAgainAfter(reply)
                        ? Mono.error(CommandFailure.of(reply))
                        : Mono.just(reply))
            .onErrorResume(
                PartialResults::isUnreachable,
                e ->
                    Mono.just(
                        CursorReplies.partial(
                            CursorReplies.next(database + "." + collection, 0, List.of()))))
        : sent;
  }

  @Override
  public boolean isOf(Set<BsonValue> sessions) {
    return session.get("lsid") instanceof BsonDocument lsid && sessions.contains(lsid.get("id"));
  }

  @Override
  public Mono<Void> kill() {
    BsonDocument command =
        new BsonDocument("killCursors", new BsonString(collection))
            .append("cursors", new BsonArray(List.of(new BsonInt64(id))))
            .append("$db", new BsonString(database));
    command.putAll(session);
    return replicaSet.sendTo(server, OpMsg.command(command)).onErrorComplete().then();
  }
}
