package dev.onehop.testbed.standin.command;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.shards.catalog.ShardedTimeSeriesException;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.command.ReadTargets;
import dev.onehop.shards.command.ShardClient;
import dev.onehop.shards.command.SingleCollectionStages;
import dev.onehop.shards.command.StatementLists;
import dev.onehop.shards.command.WriteTargets;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Explains a command as a mongos does. It adds the shards and servers to which the command goes,
 * and the reason.
 */
final class Explain {
  private final ShardClient client;

  Explain(ShardClient client) {
    this.client = client;
  }

  Mono<BsonDocument> run(OpMsg command) {
    BsonDocument inner = command.body().getDocument("explain");
    String name = inner.isEmpty() ? "" : inner.getFirstKey();
    if (!inner.isString(name)) {
      return refused("explain of " + name);
    }
    if (name.equals("aggregate") && !SingleCollectionStages.areAll(ReadTargets.pipeline(inner))) {
      return refused("explain of a pipeline with other collections");
    }
    String namespace = command.database() + "." + inner.getString(name).getValue();
    return client
        .retryWhileStale(
            namespace,
            table -> {
              Target target = target(table, name, inner);
              return target == null
                  ? refused("explain of " + name)
                  : explain(command, name, table, target);
            })
        .onErrorResume(
            Explain::isOfOtherNamespace, e -> refused("explain of a view of a sharded collection"));
  }

  private static boolean isOfOtherNamespace(Throwable failure) {
    return failure instanceof ShardedTimeSeriesException
        || (failure instanceof CommandFailure refused
            && refused.code() == ErrorCodes.COMMAND_ON_SHARDED_VIEW);
  }

  private static @Nullable Target target(RoutingTable table, String name, BsonDocument inner) {
    if (!name.equals("update") && !name.equals("delete")) {
      return ReadTargets.of(table, name, inner);
    }
    BsonArray statements = inner.getArray(StatementLists.field(name), new BsonArray());
    return statements.size() == 1
        ? WriteTargets.of(
            table,
            name,
            new RawBsonDocument(statements.get(0).asDocument(), new BsonDocumentCodec()))
        : null;
  }

  private static Mono<BsonDocument> refused(String what) {
    return Mono.error(CommandFailure.notSupported(what));
  }

  private Mono<BsonDocument> explain(
      OpMsg command, String name, RoutingTable table, Target target) {
    return Flux.fromIterable(target.shards())
        .flatMapSequential(
            shard ->
                client
                    .send(table, shard, command)
                    .flatMap(ShardClient::refuseStale)
                    .flatMap(Answer::orFailure)
                    .map(answer -> ofShard(shard, answer)))
        .collectList()
        .map(shards -> merged(name, target, shards));
  }

  private static BsonDocument ofShard(String shard, Answer answer) {
    BsonDocument explained =
        new BsonDocument("shardName", new BsonString(shard))
            .append("connectionString", new BsonString(answer.server().toString()));
    BsonDocument reply = answer.document();
    if (reply.isDocument("queryPlanner")) {
      explained.putAll(reply.getDocument("queryPlanner"));
    }
    for (String field : List.of("stages", "executionStats", "serverInfo")) {
      if (reply.containsKey(field)) {
        explained.append(field, reply.get(field));
      }
    }
    return explained;
  }

  private static BsonDocument merged(String name, Target target, List<BsonDocument> shards) {
    String stage =
        shards.size() == 1
            ? "SINGLE_SHARD"
            : name.equals("update") || name.equals("delete") ? "SHARD_WRITE" : "SHARD_MERGE";
    BsonDocument plan =
        new BsonDocument("stage", new BsonString(stage)).append("shards", new BsonArray(shards));
    BsonArray servers = new BsonArray();
    shards.forEach(shard -> servers.add(shard.get("connectionString")));
    return new BsonDocument("queryPlanner", new BsonDocument("winningPlan", plan))
        .append(
            "route",
            new BsonDocument("hop", new BsonString("direct"))
                .append("servers", servers)
                .append("why", new BsonString(target.reason())))
        .append("ok", new BsonDouble(1));
  }
}
