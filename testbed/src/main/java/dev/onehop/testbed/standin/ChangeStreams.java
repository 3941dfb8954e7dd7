package dev.onehop.testbed.standin;

import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.shards.cluster.ConfigServer;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.cluster.ShardDirectory;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.shards.cursor.Cursors;
import dev.onehop.shards.cursor.ShardCursor;
import dev.onehop.testbed.standin.ChangeStreamCursor.ShardStream;
import dev.onehop.testbed.standin.command.CommandTypes;
import dev.onehop.wire.message.BsonCopies;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.CommandFields;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Change streams of a collection, a database or the cluster. The stand-in opens one stream on every
 * shard, from the same cluster time, and merges them. Every shard filters and transforms its own
 * events.
 *
 * <p>There are two differences from a mongos. First, an open stream does not include a shard that
 * is added later. Second, if no event of the stream has the given token, the stream starts at the
 * token's cluster time.
 */
final class ChangeStreams {
  private static final String STAGE = "$changeStream";
  private static final Set<String> STARTS =
      Set.of("resumeAfter", "startAfter", "startAtOperationTime");

  private final ConfigServer config;
  private final ShardDirectory shards;
  private final Cursors cursors;
  private final ClusterClock clock;
  private final boolean waiting;

  /**
   * @param waiting whether a stream waits until idle shards and the config servers report their
   *     time by themselves, as a mongos' stream does
   */
  ChangeStreams(
      ConfigServer config,
      ShardDirectory shards,
      Cursors cursors,
      ClusterClock clock,
      boolean waiting) {
    this.config = config;
    this.shards = shards;
    this.cursors = cursors;
    this.clock = clock;
    this.waiting = waiting;
  }

  /** Whether an aggregation is a change stream. */
  static boolean isOne(OpMsg command) {
    return command.commandName().equals("aggregate") && CommandTypes.isChangeStream(command.body());
  }

  Mono<BsonDocument> open(OpMsg command) {
    return Mono.defer(
        () -> {
          BsonDocument asked =
              CommandFields.document(
                  command.body().getArray("pipeline").get(0).asDocument(), STAGE);
          ResumeToken after = after(asked);
          BsonDocument stage = started(asked, after);
          OpMsg perShard = OpMsg.command(perShard(command.body(), stage));
          return sources(command.database())
              .flatMap(
                  all -> {
                    List<Opening> openings = new ArrayList<>();
                    all.forEach(shard -> openings.add(new Opening(shard, perShard, false)));
                    if (waiting && !command.database().equals("config")) {
                      openings.add(ofNewShards(stage.getTimestamp("startAtOperationTime")));
                    }
                    return open(command, after, openings);
                  });
        });
  }

  /**
   * A stream to open.
   *
   * @param config whether the stream is the config servers' stream of new shards
   */
  private record Opening(ReplicaSet shard, OpMsg command, boolean config) {}

  /**
   * Returns the config servers' stream of new shards. When it reports a new shard, a mongos opens
   * the stream of that shard. The stand-in ignores the events, and only waits for the stream's
   * time.
   */
  private Opening ofNewShards(BsonTimestamp start) {
    BsonDocument stage =
        new BsonDocument("startAtOperationTime", start)
            .append("allowToRunOnConfigDB", BsonBoolean.TRUE);
    BsonDocument inserts =
        new BsonDocument("$match", new BsonDocument("operationType", new BsonString("insert")));
    BsonDocument command =
        new BsonDocument("aggregate", new BsonString("shards"))
            .append("pipeline", new BsonArray(List.of(new BsonDocument(STAGE, stage), inserts)))
            .append("cursor", new BsonDocument("batchSize", new BsonInt32(0)))
            .append("$db", new BsonString("config"));
    BsonDocument now = clock.clusterTime();
    if (now != null) {
      command.append("$clusterTime", now);
    }
    return new Opening(config.replicaSet(), OpMsg.command(command), true);
  }

  /**
   * Returns the replica sets that store a database: the config servers for config, the shards for
   * all other databases.
   */
  private Mono<List<ReplicaSet>> sources(String database) {
    return database.equals("config")
        ? Mono.just(List.of(config.replicaSet()))
        : shards.all().map(all -> List.copyOf(all.values()));
  }

  private Mono<BsonDocument> open(
      OpMsg asked, @Nullable ResumeToken after, List<Opening> openings) {
    return Flux.fromIterable(openings)
        .flatMapSequential(this::openAt)
        .collectList()
        .flatMap(
            opened -> {
              BsonDocument failure = failure(opened);
              if (failure != null) {
                return Flux.fromIterable(opened)
                    .flatMap(Opened::kill)
                    .then(Mono.error(CommandFailure.of(failure)));
              }
              List<ShardStream> streams = new ArrayList<>();
              opened.forEach(each -> streams.add(each.stream()));
              ChangeStreamCursor cursor =
                  new ChangeStreamCursor(namespace(asked), streams, after, waiting);
              for (int i = 0; i < opened.size(); i++) {
                cursor.opened(i, opened.get(i).reply());
              }
              return Mono.just(cursor.firstReply(cursors.add(0, cursor)));
            });
  }

  /** The result of opening a stream; the stream is null if the shard refused. */
  private record Opened(BsonDocument reply, @Nullable ShardStream stream) {
    Mono<Void> kill() {
      return stream == null ? Mono.empty() : stream.kill();
    }
  }

  private Mono<Opened> openAt(Opening opening) {
    ReplicaSet shard = opening.shard();
    OpMsg command = opening.command();
    return shard
        .send(command)
        .map(
            answer ->
                new Opened(
                    answer.document(),
                    CursorReplies.id(answer.document()) == 0
                        ? null
                        : new AtShard(
                            shard, new ShardCursor(shard, command, answer), opening.config())));
  }

  private static @Nullable BsonDocument failure(List<Opened> opened) {
    for (Opened each : opened) {
      if (!ErrorCodes.ok(each.reply())) {
        return each.reply();
      }
      if (each.stream() == null) {
        return new BsonDocument("code", new BsonInt32(ErrorCodes.INTERNAL_ERROR))
            .append("errmsg", new BsonString("a shard's change stream ended immediately"));
      }
    }
    return null;
  }

  private static @Nullable ResumeToken after(BsonDocument asked) {
    BsonValue token =
        asked.containsKey("startAfter") ? asked.get("startAfter") : asked.get("resumeAfter");
    return token == null || token.isNull() ? null : ResumeToken.of(token);
  }

  /**
   * Returns the stage for every shard. The stage starts at a cluster time, which is valid for all
   * shards. A token would be valid for one shard only.
   */
  private BsonDocument started(BsonDocument asked, @Nullable ResumeToken after) {
    BsonDocument stage = BsonCopies.without(asked, STARTS);
    BsonTimestamp start;
    if (after != null) {
      start = after.isFromInvalidate() ? next(after.clusterTime()) : after.clusterTime();
    } else if (asked.isTimestamp("startAtOperationTime")) {
      start = asked.getTimestamp("startAtOperationTime");
    } else {
      BsonDocument now = clock.clusterTime();
      if (now == null) {
        throw new IllegalStateException("no server has reported a cluster time yet");
      }
      start = next(ClusterClock.time(now));
    }
    return stage.append("startAtOperationTime", start);
  }

  private static BsonTimestamp next(BsonTimestamp time) {
    return new BsonTimestamp(time.getTime(), time.getInc() + 1);
  }

  private BsonDocument perShard(BsonDocument asked, BsonDocument stage) {
    BsonArray pipeline = new BsonArray(List.copyOf(asked.getArray("pipeline")));
    pipeline.set(0, new BsonDocument(STAGE, stage));
    BsonDocument command = new BsonDocument();
    command.putAll(asked);
    command.put("pipeline", pipeline);
    command.put("cursor", new BsonDocument("batchSize", new BsonInt32(0)));
    BsonDocument now = clock.clusterTime();
    if (now != null) {
      command.put("$clusterTime", now);
    }
    return command;
  }

  private static String namespace(OpMsg command) {
    BsonValue collection = command.body().get("aggregate");
    return command.database()
        + "."
        + (collection != null && collection.isString()
            ? collection.asString().getValue()
            : "$cmd.aggregate");
  }

  private final class AtShard implements ShardStream {
    private final ReplicaSet shard;
    private final ShardCursor cursor;
    private final boolean config;

    AtShard(ReplicaSet shard, ShardCursor cursor, boolean config) {
      this.shard = shard;
      this.cursor = cursor;
      this.config = config;
    }

    @Override
    public boolean isOfConfigServers() {
      return config;
    }

    @Override
    public Mono<BsonDocument> next(Duration wait) {
      return cursor.awaitNext(wait, 0);
    }

    /**
     * Reads at a later cluster time than the primary has reached. An idle primary then writes a
     * no-op to reach this time.
     */
    @Override
    public Mono<Void> advanceTo(BsonTimestamp time) {
      BsonDocument now = clock.clusterTime();
      BsonTimestamp latest =
          now == null || ClusterClock.time(now).compareTo(time) < 0 ? time : ClusterClock.time(now);
      BsonDocument read =
          new BsonDocument("find", new BsonString("system.version"))
              .append("limit", new BsonInt64(1))
              .append(
                  "readConcern",
                  new BsonDocument("level", new BsonString("local"))
                      .append("afterClusterTime", latest))
              .append("$db", new BsonString("admin"));
      if (now != null) {
        read.append("$clusterTime", now);
      }
      return shard.send(OpMsg.command(read)).map(Answer::document).then();
    }

    @Override
    public boolean isOf(Set<BsonValue> sessions) {
      return cursor.isOf(sessions);
    }

    @Override
    public Mono<Void> kill() {
      return cursor.kill();
    }
  }
}
