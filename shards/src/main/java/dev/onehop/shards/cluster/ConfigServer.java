package dev.onehop.shards.cluster;

import dev.onehop.shards.catalog.ConfigReader;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.wire.LateErrors;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;

/**
 * The config servers, asked directly or by way of a mongos. Reads are majority reads after the
 * latest cluster time seen, which is gossiped along: without the gossip the server refuses a time
 * that it has not reached.
 */
public final class ConfigServer implements ConfigReader {
  /** Chunks are some 200 bytes each: two megabytes. */
  private static final int BATCH = 10_000;

  private static final BsonDocument MAJORITY =
      new BsonDocument("level", new BsonString("majority"));
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
    return timed(command.append("$db", new BsonString(database)), null).map(Answer::document);
  }

  /**
   * Sends a command with the latest cluster time, and without it if that is refused: a server whose
   * clock jumped must not keep us from the metadata.
   *
   * @param readConcern of a read that is to be no older; null for any other command
   */
  private Mono<Answer> timed(BsonDocument command, @Nullable BsonDocument readConcern) {
    return Mono.defer(
        () -> {
          BsonDocument time = clock.clusterTime();
          if (time == null) {
            return send(command);
          }
          BsonDocument timed = new BsonDocument();
          timed.putAll(command);
          timed.append("$clusterTime", time);
          if (readConcern != null) {
            BsonDocument after = new BsonDocument("afterClusterTime", ClusterClock.time(time));
            after.putAll(readConcern);
            timed.append("readConcern", after);
          }
          return send(timed)
              .onErrorResume(
                  e ->
                      e instanceof CommandFailure refused
                          && ErrorCodes.isClusterTimeRefused(refused.code()),
                  e -> {
                    clock.forget(time);
                    return send(command);
                  });
        });
  }

  /** What is needed for one command of the driver's serves others, too: it has tries of its own. */
  private Mono<Answer> send(BsonDocument command) {
    return replicaSet
        .send(OpMsg.command(command))
        .contextWrite(DriverRetries::none)
        .flatMap(Answer::orFailure);
  }

  private OpMsg message(String database, BsonDocument command) {
    command.append("$db", new BsonString(database));
    BsonDocument clusterTime = clock.clusterTime();
    if (clusterTime != null) {
      command.append("$clusterTime", clusterTime);
    }
    return OpMsg.command(command);
  }

  @Override
  public Flux<List<BsonDocument>> batches(BsonDocument find) {
    String collection = find.getString("find").getValue();
    return Flux.defer(
        () -> {
          AtomicReference<@Nullable Batch> read = new AtomicReference<>();
          return timed(command(find), MAJORITY)
              .map(answer -> batch(answer, "firstBatch"))
              .expand(batch -> next(collection, batch))
              .doOnNext(read::set)
              .map(Batch::documents)
              .doFinally(
                  end -> {
                    if (end != SignalType.ON_COMPLETE) {
                      closeCursor(collection, read.get());
                    }
                  });
        });
  }

  /** Ends a cursor that is not read to its end. On the server it would live for ten minutes. */
  private void closeCursor(String collection, @Nullable Batch read) {
    if (read != null && read.cursorId() != 0) {
      BsonDocument kill =
          new BsonDocument("killCursors", new BsonString(collection))
              .append("cursors", new BsonArray(List.of(new BsonInt64(read.cursorId()))));
      replicaSet
          .sendTo(read.server(), message("config", kill))
          .subscribe(answer -> {}, failure -> {}, null, LateErrors.LOGGED);
    }
  }

  private static BsonDocument command(BsonDocument find) {
    BsonDocument command = new BsonDocument();
    command.putAll(find);
    return command
        .append("batchSize", new BsonInt32(BATCH))
        .append("readConcern", MAJORITY)
        .append("$readPreference", PRIMARY_PREFERRED)
        .append("$db", new BsonString("config"));
  }

  /** Reads on request, as {@code expand} requests one after the other. */
  private Mono<Batch> next(String collection, Batch before) {
    if (before.cursorId() == 0) {
      return Mono.empty();
    }
    BsonDocument getMore =
        new BsonDocument("getMore", new BsonInt64(before.cursorId()))
            .append("collection", new BsonString(collection))
            .append("batchSize", new BsonInt32(BATCH));
    return replicaSet
        .sendTo(before.server(), message("config", getMore))
        .flatMap(Answer::orFailure)
        .map(answer -> batch(answer, "nextBatch"));
  }

  private static Batch batch(Answer answer, String field) {
    BsonDocument cursor = answer.document().getDocument("cursor");
    List<BsonDocument> documents = new ArrayList<>();
    for (BsonValue document : cursor.getArray(field)) {
      documents.add(document.asDocument());
    }
    return new Batch(answer.server(), cursor.getInt64("id").getValue(), documents);
  }

  private record Batch(ServerAddressName server, long cursorId, List<BsonDocument> documents) {}
}
