package dev.onehop.testbed.standin;

import dev.onehop.core.table.Chunk;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.command.ClusterState;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonString;
import org.bson.BsonValue;
import reactor.core.publisher.Mono;

/**
 * Runs the commands of a mongos that shard collections, split and move chunks and assign zones. As
 * with a mongos, the config servers and the shards execute them.
 */
final class Sharding {
  private static final Set<String> COMMANDS =
      Set.of(
          "enableSharding",
          "shardCollection",
          "split",
          "moveChunk",
          "moveRange",
          "addShardToZone",
          "removeShardFromZone",
          "updateZoneKeyRange");
  private static final BsonDocument MAJORITY = new BsonDocument("w", new BsonString("majority"));
  private static final List<String> SHARD_OPTIONS =
      List.of("unique", "numInitialChunks", "presplitHashedZones", "collation", "timeseries");

  private final ClusterState cluster;

  Sharding(ClusterState cluster) {
    this.cluster = cluster;
  }

  static boolean isOne(OpMsg command) {
    return command.database().equals("admin") && COMMANDS.contains(command.commandName());
  }

  Mono<BsonDocument> run(OpMsg command) {
    BsonDocument body = command.body();
    String name = command.commandName();
    return switch (name) {
      case "enableSharding" -> createDatabase(body.getString(name).getValue(), body, true);
      case "shardCollection" -> shardCollection(body.getString(name).getValue(), body);
      case "split" -> split(body.getString(name).getValue(), body);
      case "moveChunk", "moveRange" -> move(body.getString(name).getValue(), body);
      default -> onConfigServers("_configsvr" + Character.toUpperCase(name.charAt(0)), name, body);
    };
  }

  private Mono<BsonDocument> onConfigServers(String prefix, String name, BsonDocument body) {
    BsonDocument command = new BsonDocument(prefix + name.substring(1), body.get(name));
    for (String field : List.of("zone", "min", "max")) {
      if (body.containsKey(field)) {
        command.append(field, body.get(field));
      }
    }
    return config(command);
  }

  private Mono<BsonDocument> config(BsonDocument command) {
    return cluster.config().run("admin", command.append("writeConcern", MAJORITY));
  }

  /**
   * @param enable whether to enable sharding for the database, too. Before feature compatibility
   *     version 6.0, enabling is a separate step
   */
  private Mono<BsonDocument> createDatabase(String database, BsonDocument body, boolean enable) {
    BsonDocument create = new BsonDocument("_configsvrCreateDatabase", new BsonString(database));
    if (enable) {
      create.append("enableSharding", BsonBoolean.TRUE);
    }
    if (body.containsKey("primaryShard")) {
      create.append("primaryShardId", body.get("primaryShard"));
    }
    return config(create).map(reply -> ok());
  }

  private Mono<BsonDocument> shardCollection(String namespace, BsonDocument body) {
    String database = namespace.substring(0, namespace.indexOf('.'));
    BsonDocument create =
        new BsonDocument(
                "_shardsvrCreateCollection",
                new BsonString(namespace.substring(database.length() + 1)))
            .append("shardKey", body.get("key"))
            .append("writeConcern", MAJORITY)
            .append("$db", new BsonString(database));
    for (String option : SHARD_OPTIONS) {
      if (body.containsKey(option)) {
        create.append(option, body.get(option));
      }
    }
    // An existing database is not created again. In versions before 6.0, a second creation would
    // disable sharding for the database.
    return databaseEntry(database)
        .switchIfEmpty(
            createDatabase(database, new BsonDocument(), false).then(databaseEntry(database)))
        .flatMap(
            entry ->
                onShard(
                    entry.getString("primary").getValue(),
                    create.append("databaseVersion", entry.get("version"))))
        .doOnTerminate(() -> cluster.forget(namespace))
        .map(reply -> ok().append("collectionsharded", new BsonString(namespace)));
  }

  private Mono<BsonDocument> databaseEntry(String database) {
    return cluster.config().find("databases", database).flatMapIterable(found -> found).next();
  }

  private Mono<BsonDocument> onShard(String shard, BsonDocument command) {
    return cluster
        .directory()
        .shard(shard)
        .flatMap(replicaSet -> replicaSet.send(OpMsg.command(command)))
        .flatMap(Answer::orFailure)
        .map(Answer::document);
  }

  /** Reads the present routing table of a collection. */
  private Mono<RoutingTable> table(String namespace) {
    cluster.forget(namespace);
    return cluster.shards().retryWhileStale(namespace, Mono::just);
  }

  private Mono<BsonDocument> split(String namespace, BsonDocument body) {
    if (!body.isDocument("middle")) {
      return Mono.error(CommandFailure.notSupported("split without middle"));
    }
    BsonDocument middle = body.getDocument("middle");
    return table(namespace)
        .flatMap(
            table -> {
              Chunk chunk = table.chunk(table.chunkIndexOf(key(table, middle)));
              if (chunk.min().equals(middle)) {
                return Mono.error(
                    new CommandFailure(
                        ErrorCodes.BAD_VALUE,
                        "BadValue",
                        "new split key is a boundary key of existing chunk"));
              }
              BsonDocument command =
                  new BsonDocument("splitChunk", new BsonString(namespace))
                      .append("keyPattern", table.shardKeyPattern().toBsonDocument())
                      .append("min", chunk.min())
                      .append("max", chunk.max())
                      .append("from", new BsonString(chunk.shard()))
                      .append("splitKeys", new BsonArray(List.of(middle)))
                      .append("epoch", new org.bson.BsonObjectId(table.version().epoch()))
                      .append("$db", new BsonString("admin"));
              if (table.version().timestamp() != null) {
                command.append("timestamp", table.version().timestamp());
              }
              return onShard(chunk.shard(), command).map(reply -> ok());
            });
  }

  private static byte[] key(RoutingTable table, BsonDocument bound) {
    return table.shardKeyPattern().keyOfBound(bound);
  }

  private Mono<BsonDocument> move(String namespace, BsonDocument body) {
    BsonDocument move =
        new BsonDocument("_configsvrMoveRange", new BsonString(namespace))
            .append("toShard", body.get(body.containsKey("to") ? "to" : "toShard"));
    if (body.containsKey("_waitForDelete")) {
      move.append("waitForDelete", body.get("_waitForDelete"));
    }
    if (body.get("bounds") instanceof BsonArray bounds) {
      return config(move.append("min", bounds.get(0)).append("max", bounds.get(1)))
          .map(reply -> ok());
    }
    if (body.containsKey("min")) {
      move.append("min", body.get("min"));
      BsonValue max = body.get("max");
      return config(max == null ? move : move.append("max", max)).map(reply -> ok());
    }
    return table(namespace)
        .flatMap(
            table -> {
              byte[] key = table.shardKeyPattern().keyOf(body.getDocument("find"));
              return config(move.append("min", table.chunk(table.chunkIndexOf(key)).min()));
            })
        .map(reply -> ok());
  }

  private static BsonDocument ok() {
    return new BsonDocument("ok", new BsonDouble(1));
  }
}
