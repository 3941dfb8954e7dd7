package dev.onehop.testbed.standin.command;

import dev.onehop.core.bson.SortableKey;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.shards.catalog.UnknownNamespaceException;
import dev.onehop.shards.cluster.PartialResults;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cluster.StaleRoutes;
import dev.onehop.shards.command.OneShardReads;
import dev.onehop.shards.command.ReadTargets;
import dev.onehop.shards.command.ShardClient;
import dev.onehop.shards.command.SingleCollectionStages;
import dev.onehop.shards.command.TransactionCommands;
import dev.onehop.shards.command.WriteResult;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.shards.cursor.Cursors;
import dev.onehop.shards.cursor.ShardCursor;
import dev.onehop.testbed.standin.command.MergedCursor.Source;
import dev.onehop.wire.LateErrors;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.CommandFields;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Executes reads. A command goes to the one shard that has the result, or to all shards that may
 * have a part of the result. The cursors of several shards are opened with one routing table and
 * merged.
 */
final class Reads {
  private static final Set<String> PER_DOCUMENT_STAGES =
      Set.of("$match", "$project", "$addFields", "$set", "$unset", "$replaceRoot", "$replaceWith");

  // Stages for which each shard returns its own documents.
  private static final Set<String> STATISTICS = Set.of("$collStats", "$indexStats");

  private final ShardClient client;
  private final Cursors cursors;
  private final Transactions transactions;
  private final OneShardReads oneShard;

  Reads(ShardClient client, Cursors cursors, Transactions transactions) {
    this.client = client;
    this.cursors = cursors;
    this.transactions = transactions;
    this.oneShard = new OneShardReads(client, cursors);
  }

  Mono<BsonDocument> find(OpMsg command, String namespace) {
    return readOrEmpty(namespace, command, this::scatterFind);
  }

  Mono<BsonDocument> aggregate(OpMsg command, String namespace) {
    List<BsonDocument> pipeline = ReadTargets.pipeline(command.body());
    String other = SingleCollectionStages.firstOther(withoutStatistics(pipeline));
    if (other != null) {
      return refused("the stage " + other);
    }
    return readOrEmpty(
        namespace,
        command,
        (each, table, target) -> scatterAggregate(each, table, target, pipeline));
  }

  /**
   * Returns the pipeline without its first stage if that stage is one of {@link #STATISTICS};
   * otherwise the whole pipeline.
   */
  private static List<BsonDocument> withoutStatistics(List<BsonDocument> pipeline) {
    return !pipeline.isEmpty() && !Collections.disjoint(STATISTICS, pipeline.get(0).keySet())
        ? pipeline.subList(1, pipeline.size())
        : pipeline;
  }

  Mono<BsonDocument> count(OpMsg command, String namespace) {
    return read(
        namespace,
        command,
        (each, table, target) ->
            scatter(unskipped(each), table, target).map(answers -> sum(each.body(), answers)),
        new BsonDocument("n", new BsonInt32(0)).append("ok", new BsonDouble(1)));
  }

  /**
   * Returns the command for each of several shards. It has no skip: the router subtracts the skip
   * from the sum.
   */
  private static OpMsg unskipped(OpMsg command) {
    long skip = CommandFields.number(command.body(), "skip");
    if (skip == 0) {
      return command;
    }
    BsonDocument perShard = command.bodyWithout(Set.of("skip"));
    long limit = Math.abs(CommandFields.number(command.body(), "limit"));
    if (limit > 0) {
      perShard.put("limit", new BsonInt64(sum(limit, skip)));
    }
    return command.withBody(perShard);
  }

  /** Adds two numbers. If the sum is too large, returns the largest long. */
  static long sum(long limit, long skip) {
    return limit > Long.MAX_VALUE - skip ? Long.MAX_VALUE : limit + skip;
  }

  private static BsonDocument sum(BsonDocument count, List<Answer> answers) {
    long sum = 0;
    for (Answer answer : answers) {
      sum += answer.document().getNumber("n").longValue();
    }
    sum = Math.max(0, sum - CommandFields.number(count, "skip"));
    long limit = Math.abs(CommandFields.number(count, "limit"));
    long counted = limit == 0 ? sum : Math.min(sum, limit);
    BsonValue n = counted == (int) counted ? new BsonInt32((int) counted) : new BsonInt64(counted);
    return new BsonDocument("n", n).append("ok", new BsonDouble(1));
  }

  /**
   * Returns the distinct values. As with a mongos, the values of several shards are in BSON order.
   */
  Mono<BsonDocument> distinct(OpMsg command, String namespace) {
    return read(namespace, command, this::scatterDistinct, union(List.of()));
  }

  private Mono<BsonDocument> scatterDistinct(OpMsg command, RoutingTable table, Target target) {
    if (command.body().containsKey("collation") || table.hasDefaultCollation()) {
      return refused("distinct over several shards under a collation");
    }
    return scatter(command, table, target).map(Reads::union);
  }

  private static BsonDocument union(List<Answer> answers) {
    SortedMap<byte[], BsonValue> values = new TreeMap<>(Arrays::compareUnsigned);
    for (Answer answer : answers) {
      for (BsonValue value : answer.document().getArray("values")) {
        values.putIfAbsent(SortableKey.encode(value), value);
      }
    }
    return new BsonDocument("values", new BsonArray(List.copyOf(values.values())))
        .append("ok", new BsonDouble(1));
  }

  Mono<BsonDocument> findAndModify(OpMsg command, String namespace) {
    return underNewestIfRefused(
        namespace,
        table -> {
          Target target = target(command, table);
          return target.isSingleShard()
              ? single(command, table, target.shard())
                  .flatMap(
                      reply ->
                          WriteResult.movesDocument(reply) && TransactionCommands.isPart(command)
                              ? ShardKeyChange.move(
                                  client, transactions, command, table, target.shard(), reply)
                              : Mono.just(WriteResult.atShard(target.shard(), reply)))
              : Mono.error(
                  new CommandFailure(
                      ErrorCodes.SHARD_KEY_NOT_FOUND,
                      "ShardKeyNotFound",
                      "Query for sharded findAndModify must contain the shard key for namespace "
                          + namespace));
        });
  }

  private interface Scatter {
    Mono<BsonDocument> over(OpMsg command, RoutingTable table, Target target);
  }

  private Mono<BsonDocument> readOrEmpty(String namespace, OpMsg command, Scatter scatter) {
    BsonDocument nothing = CursorReplies.first(namespace, 0, List.of());
    return read(
        namespace,
        command,
        (each, table, target) ->
            target.shards().isEmpty() ? Mono.just(nothing) : scatter.over(each, table, target),
        nothing);
  }

  /**
   * Reads from one shard or from several.
   *
   * @param nothing the reply if there is no such collection
   */
  private Mono<BsonDocument> read(
      String namespace, OpMsg command, Scatter scatter, BsonDocument nothing) {
    return underNewestIfRefused(
            namespace,
            table -> {
              Target target = target(command, table);
              return target.isSingleShard()
                  ? single(command, table, target.shard())
                  : scatter.over(command, table, target);
            })
        .onErrorReturn(UnknownNamespaceException.class, nothing);
  }

  /**
   * Runs {@code attempt} with the current table. If this router itself refuses the command, no
   * shard has received it, so no shard has checked the table's version. This method therefore runs
   * {@code attempt} again with the newest table.
   */
  private Mono<BsonDocument> underNewestIfRefused(
      String namespace, Function<RoutingTable, Mono<BsonDocument>> attempt) {
    return client.retryWhileStale(
        namespace,
        table ->
            attempt
                .apply(table)
                .onErrorResume(
                    Reads::isRefusedHere, refusal -> client.newest(table).flatMap(attempt)));
  }

  private static boolean isRefusedHere(Throwable failure) {
    return failure instanceof CommandFailure refusal
        && (refusal.code() == ErrorCodes.COMMAND_NOT_SUPPORTED
            || refusal.code() == ErrorCodes.SHARD_KEY_NOT_FOUND);
  }

  private static Target target(OpMsg command, RoutingTable table) {
    return Objects.requireNonNull(
        ReadTargets.of(table, command.commandName(), command.body()), "not a read");
  }

  private Mono<BsonDocument> single(OpMsg command, RoutingTable table, String shard) {
    return oneShard
        .run(command, table, shard)
        .flatMap(
            reply ->
                ErrorCodes.isOfShardedView(reply)
                    ? refused("a view of a sharded collection")
                    : Mono.just(reply));
  }

  private static Mono<BsonDocument> refused(String what) {
    return Mono.error(CommandFailure.notSupported(what));
  }

  private Mono<BsonDocument> scatterFind(OpMsg command, RoutingTable table, Target target) {
    BsonDocument body = command.body();
    long skip = CommandFields.number(body, "skip");
    long limit = CommandFields.number(body, "limit");
    BsonDocument sort = CommandFields.document(body, "sort");
    boolean sorted = !sort.isEmpty() && !sort.containsKey("$natural");
    if (!sorted && NearQuery.isIn(filter(command, "filter"))) {
      return refused("a find by distance over several shards");
    }
    SortKeys order = sorted ? SortKeys.of(sort) : null;
    if (sorted && order == null) {
      return refused("a find over several shards sorted by " + sort.toJson());
    }
    // singleBatch is removed: with it, each shard would close its cursor after the first batch.
    BsonDocument perShard = command.bodyWithout(Set.of("skip", "singleBatch"));
    if (limit > 0) {
      perShard.put("limit", new BsonInt64(sum(limit, skip)));
    }
    if (sorted) {
      perShard.put("projection", SortKeys.projection(CommandFields.document(body, "projection")));
    }
    return openMerged(
        command.withBody(perShard),
        table,
        target,
        new Merge(order, skip, limit, CommandFields.flag(body, "singleBatch")),
        body.get("batchSize"));
  }

  private record Merge(@Nullable SortKeys order, long skip, long limit, boolean singleBatch) {}

  private Mono<BsonDocument> scatterAggregate(
      OpMsg command, RoutingTable table, Target target, List<BsonDocument> pipeline) {
    if (CommandFields.flag(command.body(), "explain")) {
      return refused("an aggregation over several shards with explain");
    }
    BsonValue batchSize = CommandFields.document(command.body(), "cursor").get("batchSize");
    if (withoutStatistics(pipeline).stream()
        .allMatch(stage -> PER_DOCUMENT_STAGES.contains(stage.getFirstKey()))) {
      return openMerged(command, table, target, new Merge(null, 0, 0, false), batchSize);
    }
    CountPipeline count = CountPipeline.of(pipeline);
    if (count != null) {
      BsonDocument perShard = new BsonDocument();
      command.body().forEach(perShard::append);
      perShard.put("pipeline", count.perShard());
      // The shards get the default batch size. With the client's batch size of 1, a shard would
      // keep the cursor open after its only document.
      perShard.put("cursor", new BsonDocument());
      return scatter(command.withBody(perShard), table, target)
          .flatMap(
              answers ->
                  firstReply(
                      merged(table.namespace(), count.sum(batches(answers))), batchSize, false));
    }
    return refused(
        "an aggregation over several shards with stages other than " + PER_DOCUMENT_STAGES);
  }

  /** Returns a cursor over documents that have all arrived. */
  private static MergedCursor merged(String namespace, List<BsonDocument> documents) {
    return new MergedCursor(
        namespace,
        List.of(new Source(CursorReplies.first(namespace, 0, documents), null)),
        null,
        0,
        0);
  }

  private static List<BsonDocument> batches(List<Answer> answers) {
    List<BsonDocument> documents = new ArrayList<>();
    for (Answer answer : answers) {
      documents.addAll(CursorReplies.documents(answer.document()));
    }
    return documents;
  }

  private Mono<BsonDocument> openMerged(
      OpMsg command,
      RoutingTable table,
      Target target,
      Merge merge,
      @Nullable BsonValue batchSize) {
    return openAll(command, table, target)
        .flatMap(
            sources ->
                firstReply(
                    new MergedCursor(
                        table.namespace(), sources, merge.order(), merge.skip(), merge.limit()),
                    batchSize,
                    merge.singleBatch()));
  }

  private Mono<BsonDocument> firstReply(
      MergedCursor cursor, @Nullable BsonValue batchSize, boolean singleBatch) {
    return Mono.defer(() -> cursor.firstBatch(batchSize))
        .onErrorResume(e -> cursor.kill().then(Mono.error(e)))
        .doOnCancel(() -> cursor.kill().subscribe(null, null, null, LateErrors.LOGGED))
        .flatMap(
            batch -> {
              boolean done = singleBatch || cursor.isExhausted();
              long id = done ? 0 : cursors.add(0, cursor);
              BsonDocument reply =
                  cursor.marked(CursorReplies.first(cursor.namespace(), id, batch));
              return done ? cursor.kill().thenReturn(reply) : Mono.just(reply);
            });
  }

  /**
   * Opens a cursor on every shard. If one shard refuses, or the caller cancels, it closes all
   * cursors.
   */
  private Mono<List<Source>> openAll(OpMsg command, RoutingTable table, Target target) {
    OpeningCursors opening = new OpeningCursors();
    return Flux.fromIterable(target.shards())
        .flatMapDelayError(shard -> open(opening, command, table, shard), Integer.MAX_VALUE, 1)
        .collectList()
        .onErrorResume(
            failure ->
                opening.giveUp().then(Mono.error(StaleRoutes.single(Exceptions.unwrap(failure)))))
        .doOnNext(sources -> opening.complete())
        .doOnCancel(() -> opening.giveUp().subscribe(null, null, null, LateErrors.LOGGED));
  }

  private Mono<Source> open(
      OpeningCursors opening, OpMsg command, RoutingTable table, String shard) {
    return client
        .send(table, shard, command)
        .flatMap(ShardClient::refuseStale)
        .flatMap(Answer::orFailure)
        .zipWith(client.shards().shard(shard))
        .map(
            pair -> {
              Answer answer = pair.getT1();
              ShardCursor cursor = null;
              if (CursorReplies.id(answer.document()) != 0) {
                cursor = new ShardCursor(pair.getT2(), command, answer);
                opening.add(cursor);
              }
              return new Source(answer.document(), cursor);
            })
        .onErrorResume(
            failure -> isLeftOut(command, failure),
            failure -> Mono.just(new Source(OneShardReads.leftOut(table.namespace()), null)));
  }

  private static boolean isLeftOut(OpMsg command, Throwable failure) {
    return PartialResults.areAllowed(command.body()) && PartialResults.isUnreachable(failure);
  }

  private Mono<List<Answer>> scatter(OpMsg command, RoutingTable table, Target target) {
    return Flux.fromIterable(target.shards())
        .flatMapDelayError(
            shard ->
                client
                    .send(table, shard, command)
                    .flatMap(ShardClient::refuseStale)
                    .flatMap(Answer::orFailure),
            Integer.MAX_VALUE,
            1)
        .collectList()
        .onErrorMap(failure -> StaleRoutes.single(Exceptions.unwrap(failure)));
  }

  private static BsonDocument filter(OpMsg command, String field) {
    return CommandFields.document(command.body(), field);
  }
}
