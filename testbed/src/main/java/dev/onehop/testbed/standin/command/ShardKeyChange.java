package dev.onehop.testbed.standin.command;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cluster.Retryability;
import dev.onehop.shards.command.ShardClient;
import dev.onehop.shards.command.TransactionCommands;
import dev.onehop.shards.command.WriteResult;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * An update that changes the shard key and thereby moves its document to another shard. The shard
 * refuses it and returns the document that it would have written. The router then executes the
 * update as a mongos of 6.0 does. A transaction deletes the document on one shard and inserts it on
 * another shard.
 *
 * <p>A retryable write becomes a transaction with the same session and the same transaction number.
 * If the reply is lost, the driver sends the command again. The shards refuse it with
 * IncompleteTransactionHistory, so it does not run twice. The transaction also replaces the history
 * of other statements with the same number. The statement must therefore be the only statement of
 * its command.
 */
final class ShardKeyChange {
  private static final Set<String> NOT_IN_TRANSACTIONS =
      Set.of("writeConcern", "readConcern", "stmtId", "stmtIds");
  private static final BsonDocument SIMPLE = new BsonDocument("locale", new BsonString("simple"));

  private static final int MAX_COMMITS = 8;
  private static final Duration FIRST_PAUSE = Duration.ofMillis(20);

  private final Transactions transactions;

  ShardKeyChange(Transactions transactions) {
    this.transactions = transactions;
  }

  /** The error, with mongos' message, if the update is not the only statement of its command. */
  static CommandFailure notAlone() {
    return new CommandFailure(
        ErrorCodes.INVALID_OPTIONS,
        "InvalidOptions",
        "Document shard key value updates that cause the doc to move shards must be sent with"
            + " write batch of size 1");
  }

  /**
   * Runs an update of one statement, or a findAndModify. If the command is a retryable write and
   * moves its document, it runs again as a transaction.
   *
   * @param run executes a command
   */
  Mono<BsonDocument> run(OpMsg command, Function<OpMsg, Mono<BsonDocument>> run) {
    return run.apply(command)
        .flatMap(
            reply ->
                WriteResult.movesDocument(reply) && !TransactionCommands.isPart(command)
                    ? asTransaction(command, run)
                        .onErrorResume(CommandFailure.class, failure -> failed(command, failure))
                    : Mono.just(reply));
  }

  private Mono<BsonDocument> asTransaction(OpMsg command, Function<OpMsg, Mono<BsonDocument>> run) {
    OpMsg statement = statement(command);
    return Mono.defer(
            () -> {
              transactions.begin(statement, statement.body().getDocument("readConcern"));
              return run.apply(statement);
            })
        .flatMap(ShardKeyChange::refuseFailed)
        .onErrorResume(
            failure ->
                transactions
                    .abort(Transactions.end("abortTransaction", statement))
                    .then()
                    .onErrorComplete()
                    .then(Mono.error(failure)))
        // The abort has undone all changes, so the transaction can start again with the same
        // number.
        .retryWhen(
            Retry.backoff(ShardClient.MAX_TRIES, FIRST_PAUSE)
                .filter(ShardKeyChange::isTransient)
                .onRetryExhaustedThrow((spec, signal) -> signal.failure()))
        .flatMap(reply -> commit(command, statement).map(ended -> committed(reply, ended)));
  }

  private static OpMsg statement(OpMsg command) {
    BsonDocument body = command.bodyWithout(NOT_IN_TRANSACTIONS);
    BsonDocument readConcern = new BsonDocument("level", new BsonString("local"));
    if (command.body().get("readConcern") instanceof BsonDocument asked
        && asked.containsKey("afterClusterTime")) {
      readConcern.append("afterClusterTime", asked.get("afterClusterTime"));
    }
    return command.withBody(
        body.append("readConcern", readConcern)
            .append("startTransaction", BsonBoolean.TRUE)
            .append("autocommit", BsonBoolean.FALSE));
  }

  private static boolean isTransient(Throwable failure) {
    return failure instanceof IOException
        || (failure instanceof CommandFailure known
            && known.labels().contains(CommandFailure.TRANSIENT_TRANSACTION_ERROR));
  }

  /**
   * Repeats the commit if its outcome is unknown, and never aborts in this case. A repetition is
   * safe, because a commit takes effect only once.
   */
  private Mono<BsonDocument> commit(OpMsg command, OpMsg statement) {
    OpMsg commit = Transactions.end("commitTransaction", statement);
    if (command.body().containsKey("writeConcern")) {
      commit =
          commit.withFields(new BsonDocument("writeConcern", command.body().get("writeConcern")));
    }
    return transactions
        .commit(commit)
        .flatMap(
            reply ->
                !ErrorCodes.ok(reply) && Retryability.WRITE.isAgainAfter(reply)
                    ? Mono.error(new IOException("the commit was interrupted: " + reply))
                    : refuseFailed(reply))
        .retryWhen(
            Retry.backoff(MAX_COMMITS, FIRST_PAUSE)
                .filter(IOException.class::isInstance)
                .onRetryExhaustedThrow((spec, signal) -> signal.failure()));
  }

  private static BsonDocument committed(BsonDocument reply, BsonDocument ended) {
    BsonDocument whole = new BsonDocument();
    whole.putAll(reply);
    Stream.of("writeConcernError", "$clusterTime", "operationTime")
        .filter(ended::containsKey)
        .forEach(field -> whole.put(field, ended.get(field)));
    return whole;
  }

  /** As with mongos, a failed update becomes a write error of its statement. */
  private static Mono<BsonDocument> failed(OpMsg command, CommandFailure failure) {
    if (failure.labels().contains(CommandFailure.SYSTEM_OVERLOADED_ERROR)) {
      // An overload stays an error of the command. The driver then waits and sends the command
      // again.
      return Mono.error(failure);
    }
    String why =
        failure.code() == ErrorCodes.DUPLICATE_KEY
            ? "Failed to update document's shard key field. There is either an orphan for this"
                + " document or _id for this collection is not globally unique."
            : "Update operation was converted into a distributed transaction because the document"
                + " being updated would move shards and that transaction failed.";
    CommandFailure explained =
        new CommandFailure(
            failure.code(), failure.codeName(), why + " :: caused by :: " + failure.getMessage());
    if (!command.commandName().equals("update")) {
      return Mono.error(explained);
    }
    WriteResult result = new WriteResult(command, 1);
    result.addError(0, explained);
    return Mono.just(result.toReply().append("nModified", new BsonInt32(0)));
  }

  private static Mono<BsonDocument> refuseFailed(BsonDocument reply) {
    if (!ErrorCodes.ok(reply)) {
      return Mono.error(CommandFailure.of(reply));
    }
    BsonArray errors = reply.getArray("writeErrors", new BsonArray());
    return errors.isEmpty()
        ? Mono.just(reply)
        : Mono.error(CommandFailure.of(errors.get(0).asDocument()));
  }

  /**
   * Moves the document as part of the transaction in which a shard has refused the update.
   *
   * @param command the update or findAndModify
   * @param refusal the shard's reply to it
   * @return the reply to the command
   */
  static Mono<BsonDocument> move(
      ShardClient client,
      Transactions transactions,
      OpMsg command,
      RoutingTable table,
      String shard,
      BsonDocument refusal) {
    return new Move(client, transactions, command, table, shard, refusal).run();
  }

  private record Move(
      ShardClient client,
      Transactions transactions,
      OpMsg command,
      RoutingTable table,
      String shard,
      BsonDocument refusal) {
    Mono<BsonDocument> run() {
      Target target = Targeter.insert(table, raw(after()));
      if (!target.isSingleShard()) {
        return Mono.error(
            new CommandFailure(
                ErrorCodes.ILLEGAL_OPERATION,
                "IllegalOperation",
                "Failed to target insert :: " + target.reason()));
      }
      Mono<BsonValue> moved =
          isUpsert()
              ? insert(target.shard()).then(value(target.shard()))
              : isNewWanted()
                  ? delete().then(insert(target.shard())).then(value(target.shard()))
                  : value(shard)
                      .flatMap(value -> delete().then(insert(target.shard())).map(done -> value));
      return transactions.orNothing(command, moved.map(this::reply));
    }

    private BsonDocument before() {
      return refusal.getDocument("preImage");
    }

    private BsonDocument after() {
      return refusal.getDocument("postImage");
    }

    private boolean isUpsert() {
      return refusal.getBoolean("shouldUpsert", BsonBoolean.FALSE).getValue();
    }

    private boolean isNewWanted() {
      return command.body().getBoolean("new", BsonBoolean.FALSE).getValue();
    }

    private Mono<BsonDocument> delete() {
      BsonDocument statement =
          new BsonDocument("q", filter(before()))
              .append("limit", new BsonInt32(1))
              .append("collation", SIMPLE);
      return write(shard, "delete", "deletes", statement);
    }

    private Mono<BsonDocument> insert(String to) {
      return write(to, "insert", "documents", after());
    }

    private Mono<BsonDocument> write(String to, String name, String list, BsonDocument statement) {
      return send(
              to,
              new BsonDocument(name, new BsonString(collection()))
                  .append(list, new BsonArray(List.of(statement))))
          .filter(reply -> reply.getNumber("n").intValue() == 1)
          .switchIfEmpty(
              Mono.error(
                  () ->
                      new CommandFailure(
                          ErrorCodes.WRITE_CONFLICT,
                          "WriteConflict",
                          "the document has changed in the meantime",
                          List.of(CommandFailure.TRANSIENT_TRANSACTION_ERROR))));
    }

    /**
     * Returns the document for the reply of a findAndModify. If there is a projection, this method
     * reads the document from the shard, because the router cannot apply a projection.
     */
    private Mono<BsonValue> value(String at) {
      BsonDocument wanted = isNewWanted() ? after() : before();
      BsonDocument fields = command.body().getDocument("fields", new BsonDocument());
      if (isUpsert() && !isNewWanted()) {
        return Mono.just(BsonNull.VALUE);
      }
      if (fields.isEmpty()) {
        return Mono.just(wanted);
      }
      return send(
              at,
              new BsonDocument("find", new BsonString(collection()))
                  .append("filter", filter(wanted))
                  .append("projection", fields)
                  .append("collation", SIMPLE)
                  .append("limit", new BsonInt32(1))
                  .append("singleBatch", BsonBoolean.TRUE))
          .map(reply -> reply.getDocument("cursor").getArray("firstBatch").get(0));
    }

    private Mono<BsonDocument> send(String to, BsonDocument body) {
      OpMsg message =
          OpMsg.command(
              Transactions.another(body, command)
                  .append("$db", new BsonString(command.database())));
      return client
          .send(table, to, message)
          .flatMap(ShardClient::refuseStaleStatement)
          .map(Answer::document)
          .flatMap(ShardKeyChange::refuseFailed);
    }

    private String collection() {
      return command.body().getString(command.commandName()).getValue();
    }

    /**
     * Returns a filter for this document. The filter has the _id, which is unique on the shard, and
     * the shard key, which has an index.
     */
    private BsonDocument filter(BsonDocument document) {
      BsonDocument filter = new BsonDocument();
      table
          .shardKeyPattern()
          .keyDocumentOf(document)
          .forEach((path, value) -> put(filter, path, value));
      put(filter, "_id", Objects.requireNonNull(document.get("_id"), "_id"));
      return filter;
    }

    private static void put(BsonDocument filter, String path, BsonValue value) {
      filter.put(path, new BsonDocument("$eq", value));
    }

    private BsonDocument reply(BsonValue value) {
      BsonDocument upserted = new BsonDocument("index", new BsonInt32(0));
      if (command.commandName().equals("update")) {
        BsonDocument reply =
            new BsonDocument("n", new BsonInt32(1))
                .append("nModified", new BsonInt32(isUpsert() ? 0 : 1));
        if (isUpsert()) {
          reply.append(
              "upserted", new BsonArray(List.of(upserted.append("_id", after().get("_id")))));
        }
        return reply.append("ok", new BsonDouble(1));
      }
      BsonDocument error =
          new BsonDocument("n", new BsonInt32(1))
              .append("updatedExisting", BsonBoolean.valueOf(!isUpsert()));
      if (isUpsert()) {
        error.append("upserted", after().get("_id"));
      }
      return new BsonDocument("lastErrorObject", error)
          .append("value", value)
          .append("ok", new BsonDouble(1));
    }

    private static RawBsonDocument raw(BsonDocument document) {
      return document instanceof RawBsonDocument raw
          ? raw
          : new RawBsonDocument(document, new BsonDocumentCodec());
    }
  }
}
