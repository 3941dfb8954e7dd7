package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import com.mongodb.ReadPreference;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.copy.internal.KeyFields;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.core.bson.BsonPath;
import dev.onehop.wire.message.ErrorCodes;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.conversions.Bson;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Writes the plans of batches. The deletes, the inserts and the updates of a collection are one
 * command each. Commands are unordered, so that shards work in parallel. All statements for a
 * document go to one shard, which runs them in the order of the command. Thread-safe.
 */
record BatchWriter(MongoClient destination) {
  /**
   * The most bytes of statements in a command. Together with the command's other fields, this is
   * less than the servers' limit for a message.
   */
  private static final int MOST_BYTES = 12_000_000;

  private static final int MOST_STATEMENTS = 5_000;
  private static final int SWEPT_AT_ONCE = 100;
  private static final Collation SIMPLE = Collation.builder().locale("simple").build();

  /** The commands. Each has the name of its list of statements. */
  private enum Command {
    DELETE("delete", "deletes"),
    INSERT("insert", "documents"),
    UPDATE("update", "updates");

    private final String text;
    private final String list;

    Command(String text, String list) {
      this.text = text;
      this.list = list;
    }
  }

  /**
   * Thrown if the server refused a statement, or if documents to update are missing or do not match
   * the statement's filter.
   */
  static final class UnmatchedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnmatchedException(String why) {
      super(why);
    }
  }

  /**
   * Thrown if a document needs a value in a unique index, but another document of the destination
   * has this value.
   */
  static final class OccupiedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Target target;
    private final transient Statement refused;
    private final transient BsonDocument error;

    OccupiedException(Target target, Statement refused, BsonDocument error) {
      super(error.getString("errmsg").getValue());
      this.target = target;
      this.refused = refused;
      this.error = error;
    }

    /**
     * A filter that finds the document that has the value.
     *
     * @param index an index that may have refused the statement
     */
    private BsonDocument filter(BsonDocument index) {
      BsonArray all = new BsonArray();
      BsonArray any = new BsonArray();
      for (String field : index.getDocument("key").keySet()) {
        BsonValue value = error.getDocument("keyValue").get(field, BsonNull.VALUE);
        String operator = "$eq";
        if (index.containsKey("collation")) {
          // Because of the collation, the error has sort keys instead of strings. So the value is
          // taken from the refused document.
          BsonValue own = BsonPath.of(field).find(refused.document());
          value = own == null ? BsonNull.VALUE : own;
          operator = value.isArray() ? "$in" : "$eq";
        } else if (value.getBsonType() == BsonType.UNDEFINED) {
          value = new BsonArray();
        }
        all.add(new BsonDocument(field, new BsonDocument(operator, value)));
        any.add(new BsonDocument(field, new BsonDocument("$exists", BsonBoolean.TRUE)));
      }
      all.add(index.getDocument("partialFilterExpression", new BsonDocument()));
      if (index.containsKey("sparse")) {
        all.add(new BsonDocument("$or", any));
      }
      return new BsonDocument("$and", all);
    }
  }

  /**
   * Writes a plan in the lane of a channel, and records in this lane which documents were read from
   * the source.
   */
  Mono<Void> write(Tenure tenure, BatchPlan plan) {
    return write(tenure.writes(), plan)
        .doOnSuccess(done -> plan.read().forEach(tenure.lane()::wrote));
  }

  /**
   * Writes a plan with majority write concern.
   *
   * @return completes when the plan is written; fails with an {@link UnmatchedException} or an
   *     {@link OccupiedException} if a part could not be written
   */
  Mono<Void> write(Fence.Lane lane, BatchPlan plan) {
    return Flux.fromIterable(plan.work())
        .concatMap(
            work ->
                found(work)
                    .flatMapMany(deletes -> send(lane, work.target(), Command.DELETE, deletes))
                    .thenMany(
                        Flux.defer(() -> send(lane, work.target(), Command.INSERT, work.inserts())))
                    .map(work.target()::put)
                    .collectList()
                    // Documents that exist already are replaced.
                    .flatMapMany(puts -> send(lane, work.target(), Command.UPDATE, puts))
                    .thenMany(
                        Flux.defer(
                            () -> send(lane, work.target(), Command.UPDATE, work.updates()))))
        .then();
  }

  /**
   * The deletes of the work, each with the shard key of one document. If a delete has no shard key,
   * the documents that match it are read first.
   */
  private Mono<List<Statement>> found(BatchPlan.Work work) {
    Flux<Statement> deletes = Flux.fromIterable(work.deletes());
    return deletes
        .filter(delete -> delete.kind() == Statement.Kind.DELETE)
        .concatWith(
            deletes
                .filter(delete -> delete.kind() == Statement.Kind.SWEEP)
                .<Bson>map(delete -> delete.body().getDocument("q"))
                .buffer(SWEPT_AT_ONCE)
                .concatMap(some -> find(work.target(), some))
                .map(work.target()::deleteFound))
        .collectList();
  }

  /**
   * Finds the documents that have the value of a refused document in a unique index.
   *
   * @return the {@code _id}s of the documents; empty if no document has the value any more, or if
   *     only an orphaned document has it
   */
  Mono<List<BsonValue>> occupants(OccupiedException occupied) {
    MongoNamespace name = occupied.target.namespace();
    MongoDatabase database = destination.getDatabase(name.getDatabaseName());
    return Flux.from(
            database.getCollection(name.getCollectionName()).listIndexes(BsonDocument.class))
        .filter(index -> index.getDocument("key").equals(occupied.error.getDocument("keyPattern")))
        .concatMap(
            index ->
                database.runCommand(
                    new BsonDocument("find", new BsonString(name.getCollectionName()))
                        .append("filter", occupied.filter(index))
                        .append("collation", index.getDocument("collation", CollectionSpec.SIMPLE))
                        .append("projection", KeyFields.withId(List.of()))
                        .append("singleBatch", BsonBoolean.TRUE),
                    BsonDocument.class))
        .flatMapIterable(reply -> reply.getDocument("cursor").getArray("firstBatch"))
        .map(found -> Target.id(found.asDocument()))
        .filter(id -> !Target.key(id).equals(Target.key(occupied.refused.id())))
        .collectList()
        .retryWhen(SourceReads.untilThere());
  }

  private Flux<RawBsonDocument> find(Target target, List<Bson> filters) {
    FindPublisher<RawBsonDocument> found =
        destination
            .getDatabase(target.namespace().getDatabaseName())
            .getCollection(target.namespace().getCollectionName(), RawBsonDocument.class)
            .withReadPreference(ReadPreference.primary())
            .find(Filters.or(filters))
            .projection(KeyFields.withId(target.shardKey()));
    return Flux.from(target.isSimple() ? found.collation(SIMPLE) : found)
        .collectList()
        .retryWhen(SourceReads.untilThere())
        .flatMapIterable(all -> all);
  }

  /**
   * Sends statements of one kind.
   *
   * @return the documents that could not be inserted because of a duplicate key
   */
  private static Flux<RawBsonDocument> send(
      Fence.Lane lane, Target target, Command command, List<Statement> statements) {
    return Flux.fromIterable(parts(statements))
        .concatMap(
            part -> {
              BsonDocument body =
                  new BsonDocument(
                          command.text, new BsonString(target.namespace().getCollectionName()))
                      .append(
                          command.list, new BsonArray(part.stream().map(Statement::body).toList()))
                      .append("ordered", BsonBoolean.FALSE);
              if (command != Command.DELETE) {
                body.append("bypassDocumentValidation", BsonBoolean.TRUE);
              }
              return lane.write(target.namespace().getDatabaseName(), body)
                  .flatMapMany(reply -> check(target, reply, part));
            });
  }

  private static List<List<Statement>> parts(List<Statement> statements) {
    List<List<Statement>> parts = new ArrayList<>();
    long bytes = MOST_BYTES;
    for (Statement statement : statements) {
      bytes += statement.bytes();
      if (bytes > MOST_BYTES || parts.get(parts.size() - 1).size() == MOST_STATEMENTS) {
        parts.add(new ArrayList<>());
        bytes = statement.bytes();
      }
      parts.get(parts.size() - 1).add(statement);
    }
    return parts;
  }

  private static Flux<RawBsonDocument> check(
      Target target, BsonDocument reply, List<Statement> statements) {
    List<RawBsonDocument> there = new ArrayList<>();
    RuntimeException why = null;
    for (BsonValue each : reply.getArray("writeErrors", new BsonArray())) {
      BsonDocument error = each.asDocument();
      Statement refused = statements.get(error.getNumber("index").intValue());
      boolean duplicate = error.getNumber("code").intValue() == ErrorCodes.DUPLICATE_KEY;
      String message = error.getString("errmsg").getValue();
      if (duplicate && refused.kind() == Statement.Kind.INSERT) {
        there.add(refused.body());
      } else if (duplicate) {
        return Flux.error(new OccupiedException(target, refused, error));
      } else {
        why = new UnmatchedException(message);
      }
    }
    if (why != null) {
      return Flux.error(why);
    }
    long expected = statements.stream().filter(statement -> !statement.isDelete()).count();
    return expected > 0 && reply.getNumber("n").longValue() + there.size() < expected
        ? Flux.error(
            new UnmatchedException(
                "%s: %d of %d documents are missing"
                    .formatted(
                        target.namespace(),
                        expected - reply.getNumber("n").longValue() - there.size(),
                        expected)))
        : Flux.fromIterable(there);
  }
}
