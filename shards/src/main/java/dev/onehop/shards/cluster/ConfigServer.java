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
 * Reads from the config servers, directly or over a mongos. Reads have read concern majority, with
 * the latest known cluster time as {@code afterClusterTime}. The command also has this time as
 * {@code $clusterTime}, because otherwise a server that has not reached the time refuses the read.
 */
public final class ConfigServer implements ConfigReader {
  /**
   * The largest number of documents in a batch. A chunk has about 200 bytes, so a batch has about
   * two megabytes.
   */
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
   * Runs a command on the primary.
   *
   * @return the reply; a {@link CommandFailure} if it is not ok
   */
  public Mono<BsonDocument> run(String database, BsonDocument command) {
    return timed(command.append("$db", new BsonString(database)), null).map(Answer::document);
  }

  /**
   * Sends a command with the latest cluster time. If the server refuses the time, sends the command
   * again without it. A server with a wrong clock thus does not block reads of the metadata.
   *
   * @param readConcern the read concern of a causal read; null for any other command
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

  /**
   * Sends a command with separate retries. The retries of the driver's command that caused a
   * refresh do not limit them, because many commands share one refresh.
   */
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

  /** Closes a cursor that is not read to its end. The server would keep it for ten minutes. */
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

  /**
   * Reads the next batch. The caller passes this method to the operator {@code expand}, which calls
   * it when the subscriber requests a batch.
   */
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
