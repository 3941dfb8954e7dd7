package dev.onehop.routing.internal.direct;

import dev.onehop.core.bson.SortableKey;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.routing.internal.catalog.UnknownNamespaceException;
import dev.onehop.routing.internal.direct.cursor.CursorReplies;
import dev.onehop.routing.internal.direct.cursor.Cursors;
import dev.onehop.routing.internal.direct.cursor.MergedCursor;
import dev.onehop.routing.internal.direct.cursor.MergedCursor.Source;
import dev.onehop.routing.internal.direct.cursor.ShardCursor;
import dev.onehop.routing.internal.direct.cursor.SortKeys;
import dev.onehop.routing.internal.direct.shard.CommandFailure;
import dev.onehop.routing.internal.direct.shard.ErrorCodes;
import dev.onehop.routing.internal.direct.shard.ReplicaSet.Answer;
import dev.onehop.routing.internal.direct.shard.StaleRoutes;
import dev.onehop.routing.internal.wire.OpMsg;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
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
 * Reads: to the one shard that has what is asked for, else to all that may have some of it, whose
 * cursors are opened under one routing table and merged.
 */
public final class Reads {
  private static final Set<String> PER_DOCUMENT_STAGES =
      Set.of("$match", "$project", "$addFields", "$set", "$unset", "$replaceRoot", "$replaceWith");

  private final ShardClient client;
  private final Cursors cursors;
  private final HandOver handOver;

  Reads(ShardClient client, Cursors cursors, HandOver handOver) {
    this.client = client;
    this.cursors = cursors;
    this.handOver = handOver;
  }

  Mono<BsonDocument> find(OpMsg command, String namespace) {
    return readOrEmpty(
        namespace,
        command,
        table ->
            Targeter.find(table, filter(command, "filter"), WriteTargets.options(command.body())),
        this::scatterFind);
  }

  Mono<BsonDocument> aggregate(OpMsg command, String namespace) {
    List<BsonDocument> pipeline =
        command.body().getArray("pipeline").stream().map(BsonValue::asDocument).toList();
    String other = OwnDocumentStages.firstOther(pipeline);
    if (other != null) {
      return handOver.send(command, "the stage " + other);
    }
    return readOrEmpty(
        namespace,
        command,
        table -> Targeter.aggregate(table, pipeline, WriteTargets.options(command.body())),
        (each, table, target) -> scatterAggregate(each, table, target, pipeline));
  }

  Mono<BsonDocument> count(OpMsg command, String namespace) {
    return read(
        namespace,
        command,
        table -> byQuery(command, table),
        (each, table, target) ->
            scatter(unskipped(each), table, target).map(answers -> sum(each.body(), answers)),
        new BsonDocument("n", new BsonInt32(0)).append("ok", new BsonDouble(1)));
  }

  /** The command for one of several shards, which can't know what the others skip. */
  private static OpMsg unskipped(OpMsg command) {
    long skip = number(command.body(), "skip");
    if (skip == 0) {
      return command;
    }
    BsonDocument perShard = command.bodyWithout(Set.of("skip"));
    long limit = Math.abs(number(command.body(), "limit"));
    if (limit > 0) {
      perShard.put("limit", new BsonInt64(Math.addExact(limit, skip)));
    }
    return command.withBody(perShard);
  }

  private static BsonDocument sum(BsonDocument count, List<Answer> answers) {
    long sum = 0;
    for (Answer answer : answers) {
      sum += answer.document().getNumber("n").longValue();
    }
    sum = Math.max(0, sum - number(count, "skip"));
    long limit = Math.abs(number(count, "limit"));
    long counted = limit == 0 ? sum : Math.min(sum, limit);
    BsonValue n = counted == (int) counted ? new BsonInt32((int) counted) : new BsonInt64(counted);
    return new BsonDocument("n", n).append("ok", new BsonDouble(1));
  }

  /** The distinct values; those of several shards in BSON order, as mongos gives them. */
  Mono<BsonDocument> distinct(OpMsg command, String namespace) {
    return read(
        namespace,
        command,
        table -> byQuery(command, table),
        this::scatterDistinct,
        union(List.of()));
  }

  private Mono<BsonDocument> scatterDistinct(OpMsg command, RoutingTable table, Target target) {
    if (command.body().containsKey("collation") || table.hasDefaultCollation()) {
      return handOver.send(command, "distinct over several shards under a collation");
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

  /** Needs the whole shard key, as with a mongos before 7.0. */
  Mono<BsonDocument> findAndModify(OpMsg command, String namespace) {
    return client
        .retryWhileStale(
            namespace,
            table -> {
              Target target =
                  Targeter.findAndModify(
                      table, filter(command, "query"), WriteTargets.options(command.body()));
              return target.isSingleShard()
                  ? single(command, table, target.shard())
                  : Mono.error(
                      new CommandFailure(
                          ErrorCodes.SHARD_KEY_NOT_FOUND,
                          "ShardKeyNotFound",
                          "Query for sharded findAndModify must contain the shard key for namespace"
                              + " "
                              + namespace));
            })
        .onErrorResume(
            CommandFailure.class,
            failure ->
                failure.code() == ErrorCodes.SHARD_KEY_NOT_FOUND
                    ? handOver
                        .isPossible()
                        .flatMap(
                            possible ->
                                possible
                                    ? handOver.send(command, "findAndModify")
                                    : Mono.error(failure))
                    : Mono.error(failure));
  }

  private interface Scatter {
    Mono<BsonDocument> over(OpMsg command, RoutingTable table, Target target);
  }

  private interface Targeting {
    Target under(RoutingTable table);
  }

  private Mono<BsonDocument> readOrEmpty(
      String namespace, OpMsg command, Targeting targeting, Scatter scatter) {
    BsonDocument nothing = CursorReplies.first(namespace, 0, List.of());
    return read(
        namespace,
        command,
        targeting,
        (each, table, target) ->
            target.shards().isEmpty() ? Mono.just(nothing) : scatter.over(each, table, target),
        nothing);
  }

  /**
   * Reads from one shard or from several.
   *
   * @param nothing the answer if there is no such collection
   */
  private Mono<BsonDocument> read(
      String namespace, OpMsg command, Targeting targeting, Scatter scatter, BsonDocument nothing) {
    return client
        .retryWhileStale(
            namespace,
            table -> {
              Target target = targeting.under(table);
              return target.isSingleShard()
                  ? single(command, table, target.shard())
                  : scatter.over(command, table, target);
            })
        .onErrorReturn(UnknownNamespaceException.class, nothing);
  }

  private static Target byQuery(OpMsg command, RoutingTable table) {
    return Targeter.find(table, filter(command, "query"), WriteTargets.options(command.body()));
  }

  private Mono<BsonDocument> single(OpMsg command, RoutingTable table, String shard) {
    return client
        .send(table, shard, command)
        .flatMap(ShardClient::refuseStale)
        .flatMap(
            answer ->
                ErrorCodes.isOfShardedView(answer.document())
                    ? handOver.send(command, "a view of a sharded collection")
                    : keepCursor(command, shard, answer));
  }

  private Mono<BsonDocument> keepCursor(OpMsg command, String shard, Answer answer) {
    return CursorReplies.id(answer.document()) == 0
        ? Mono.just(answer.document())
        : client.shards().shard(shard).map(replicaSet -> cursors.keep(replicaSet, command, answer));
  }

  private Mono<BsonDocument> scatterFind(OpMsg command, RoutingTable table, Target target) {
    BsonDocument body = command.body();
    long skip = number(body, "skip");
    long limit = Math.abs(number(body, "limit"));
    BsonDocument sort = body.getDocument("sort", new BsonDocument());
    boolean sorted = !sort.isEmpty() && !sort.containsKey("$natural");
    if (!sorted && NearQuery.isIn(filter(command, "filter"))) {
      return handOver.send(command, "a find by distance over several shards");
    }
    SortKeys order = sorted ? SortKeys.of(sort) : null;
    if (sorted && order == null) {
      return handOver.send(command, "a find over several shards sorted by " + sort.toJson());
    }
    // A single batch from each shard would be cut before the merge.
    BsonDocument perShard = command.bodyWithout(Set.of("skip", "singleBatch"));
    if (limit > 0) {
      perShard.put("limit", new BsonInt64(Math.addExact(limit, skip)));
    }
    if (sorted) {
      perShard.put(
          "projection", SortKeys.projection(body.getDocument("projection", new BsonDocument())));
    }
    boolean singleBatch =
        body.containsKey("singleBatch") && body.getBoolean("singleBatch").getValue();
    return openMerged(
        command.withBody(perShard),
        table,
        target,
        new Merge(order, skip, limit, singleBatch),
        body.get("batchSize"));
  }

  private record Merge(@Nullable SortKeys order, long skip, long limit, boolean singleBatch) {}

  private Mono<BsonDocument> scatterAggregate(
      OpMsg command, RoutingTable table, Target target, List<BsonDocument> pipeline) {
    if (pipeline.stream().allMatch(stage -> PER_DOCUMENT_STAGES.contains(stage.getFirstKey()))) {
      return openMerged(
          command,
          table,
          target,
          new Merge(null, 0, 0, false),
          command.body().getDocument("cursor", new BsonDocument()).get("batchSize"));
    }
    CountPipeline count = CountPipeline.of(pipeline);
    if (count != null) {
      BsonDocument perShard = new BsonDocument();
      command.body().forEach(perShard::append);
      perShard.put("pipeline", count.perShard());
      return scatter(command.withBody(perShard), table, target)
          .map(answers -> CursorReplies.first(table.namespace(), 0, count.sum(batches(answers))));
    }
    return handOver.send(
        command,
        "an aggregation over several shards with stages other than " + PER_DOCUMENT_STAGES);
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
            sources -> {
              MergedCursor cursor =
                  new MergedCursor(
                      table.namespace(), sources, merge.order(), merge.skip(), merge.limit());
              return Mono.defer(() -> cursor.firstBatch(batchSize))
                  .onErrorResume(e -> cursor.kill().then(Mono.error(e)))
                  .doOnCancel(() -> cursor.kill().subscribe())
                  .flatMap(batch -> firstReply(cursor, batch, merge.singleBatch()));
            });
  }

  private Mono<BsonDocument> firstReply(
      MergedCursor cursor, List<BsonDocument> batch, boolean singleBatch) {
    if (singleBatch || cursor.isExhausted()) {
      return cursor.kill().thenReturn(CursorReplies.first(cursor.namespace(), 0, batch));
    }
    return Mono.just(CursorReplies.first(cursor.namespace(), cursors.add(0, cursor), batch));
  }

  /**
   * Opens a cursor on every shard, or on none: a refusal by one, or a cancel, closes the others.
   */
  private Mono<List<Source>> openAll(OpMsg command, RoutingTable table, Target target) {
    OpeningCursors opening = new OpeningCursors();
    return Flux.fromIterable(target.shards())
        .flatMapDelayError(
            shard ->
                client
                    .send(table, shard, command)
                    .flatMap(ShardClient::refuseStale)
                    .flatMap(Reads::refuseFailed)
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
                        }),
            Integer.MAX_VALUE,
            1)
        .collectList()
        .onErrorResume(
            failure ->
                opening.giveUp().then(Mono.error(StaleRoutes.single(Exceptions.unwrap(failure)))))
        .doOnNext(sources -> opening.complete())
        .doOnCancel(() -> opening.giveUp().subscribe());
  }

  private Mono<List<Answer>> scatter(OpMsg command, RoutingTable table, Target target) {
    return Flux.fromIterable(target.shards())
        .flatMap(
            shard ->
                client
                    .send(table, shard, command)
                    .flatMap(ShardClient::refuseStale)
                    .flatMap(Reads::refuseFailed))
        .collectList();
  }

  private static Mono<Answer> refuseFailed(Answer answer) {
    BsonDocument reply = answer.document();
    return ErrorCodes.ok(reply) ? Mono.just(answer) : Mono.error(CommandFailure.of(reply));
  }

  private static BsonDocument filter(OpMsg command, String field) {
    return command.body().getDocument(field, new BsonDocument());
  }

  private static long number(BsonDocument body, String field) {
    return body.getNumber(field, new BsonInt32(0)).longValue();
  }
}
