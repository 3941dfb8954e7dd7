package dev.onehop.routing.internal.direct.shard;

import dev.onehop.routing.internal.catalog.ConfigReader;
import dev.onehop.routing.internal.direct.shard.ReplicaSet.Answer;
import dev.onehop.routing.internal.wire.OpMsg;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The config servers, asked directly or by way of a mongos. Reads are majority reads after the
 * latest cluster time seen, which is gossiped along: without the gossip the server refuses a time
 * that it has not reached.
 */
public final class ConfigServer implements ConfigReader {
  private static final int BATCH = 100_000;
  private static final BsonDocument PRIMARY_PREFERRED =
      new BsonDocument("mode", new BsonString("primaryPreferred"));

  private final ReplicaSet replicaSet;
  private final ClusterClock clock;

  public ConfigServer(ReplicaSet replicaSet, ClusterClock clock) {
    this.replicaSet = replicaSet;
    this.clock = clock;
  }

  public ReplicaSet replicaSet() {
    return replicaSet;
  }

  /**
   * Runs a command against the primary.
   *
   * @return the reply; a {@link CommandFailure} if it is not ok
   */
  public Mono<BsonDocument> run(String database, BsonDocument command) {
    return replicaSet
        .send(message(database, command))
        .flatMap(ConfigServer::refuseFailed)
        .map(Answer::document)
        .onErrorResume(
            e -> isTimeRefused(e, command),
            e -> {
              clock.forget(command.getDocument("$clusterTime"));
              command.remove("$clusterTime");
              return replicaSet
                  .send(OpMsg.command(command))
                  .flatMap(ConfigServer::refuseFailed)
                  .map(Answer::document);
            });
  }

  /** A server whose clock jumped must not keep us from the metadata. */
  private static boolean isTimeRefused(Throwable failure, BsonDocument command) {
    return command.containsKey("$clusterTime")
        && failure instanceof CommandFailure refused
        && ErrorCodes.isClusterTimeRefused(refused.code());
  }

  private OpMsg message(String database, BsonDocument command) {
    command.append("$db", new BsonString(database));
    BsonDocument clusterTime = clock.clusterTime();
    if (clusterTime != null) {
      command.append("$clusterTime", clusterTime);
    }
    return OpMsg.command(command);
  }

  private static Mono<Answer> refuseFailed(Answer answer) {
    BsonDocument reply = answer.document();
    return ErrorCodes.ok(reply) ? Mono.just(answer) : Mono.error(CommandFailure.of(reply));
  }

  @Override
  public Mono<List<BsonDocument>> find(String collection, BsonDocument filter, BsonDocument sort) {
    return Mono.defer(
        () -> {
          BsonDocument find = findCommand(collection, filter, sort, clock.clusterTime());
          return read(collection, find)
              .onErrorResume(
                  e -> isTimeRefused(e, find),
                  e -> {
                    clock.forget(find.getDocument("$clusterTime"));
                    return read(collection, findCommand(collection, filter, sort, null));
                  });
        });
  }

  private static BsonDocument findCommand(
      String collection,
      BsonDocument filter,
      BsonDocument sort,
      @Nullable BsonDocument clusterTime) {
    BsonDocument readConcern = new BsonDocument("level", new BsonString("majority"));
    BsonDocument find =
        new BsonDocument("find", new BsonString(collection))
            .append("filter", filter)
            .append("batchSize", new BsonInt32(BATCH))
            .append("readConcern", readConcern)
            .append("$readPreference", PRIMARY_PREFERRED)
            .append("$db", new BsonString("config"));
    if (!sort.isEmpty()) {
      find.append("sort", sort);
    }
    if (clusterTime != null) {
      readConcern.append("afterClusterTime", ClusterClock.time(clusterTime));
      find.append("$clusterTime", clusterTime);
    }
    return find;
  }

  private Mono<List<BsonDocument>> read(String collection, BsonDocument find) {
    return replicaSet
        .send(OpMsg.command(find))
        .flatMap(ConfigServer::refuseFailed)
        .flatMap(answer -> drain(collection, answer, new ArrayList<>()));
  }

  private Mono<List<BsonDocument>> drain(
      String collection, Answer answer, List<BsonDocument> documents) {
    BsonDocument cursor = answer.document().getDocument("cursor");
    BsonArray batch =
        cursor.containsKey("firstBatch")
            ? cursor.getArray("firstBatch")
            : cursor.getArray("nextBatch");
    for (BsonValue document : batch) {
      documents.add(document.asDocument());
    }
    long id = cursor.getInt64("id").getValue();
    if (id == 0) {
      return Mono.just(documents);
    }
    BsonDocument getMore =
        new BsonDocument("getMore", new BsonInt64(id))
            .append("collection", new BsonString(collection))
            .append("batchSize", new BsonInt32(BATCH));
    return replicaSet
        .sendTo(answer.server(), message("config", getMore))
        .flatMap(ConfigServer::refuseFailed)
        .flatMap(next -> drain(collection, next, documents));
  }
}
