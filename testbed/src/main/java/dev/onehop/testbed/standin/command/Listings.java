package dev.onehop.testbed.standin.command;

import dev.onehop.core.table.ShardId;
import dev.onehop.shards.catalog.UnknownNamespaceException;
import dev.onehop.shards.cluster.ConfigServer;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.command.ShardClient;
import dev.onehop.shards.cursor.CursorReplies;
import dev.onehop.shards.cursor.Cursors;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt64;
import org.bson.BsonValue;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Lists the databases, collections and indexes of the cluster. */
final class Listings {
  private final ConfigServer config;
  private final ShardClient client;
  private final Cursors cursors;

  Listings(ConfigServer config, ShardClient client, Cursors cursors) {
    this.config = config;
    this.client = client;
    this.cursors = cursors;
  }

  /**
   * Lists the indexes at one shard, because all shards that own a part of the collection have the
   * same indexes.
   */
  Mono<BsonDocument> indexes(OpMsg command, String namespace) {
    return client
        .retryWhileStale(
            namespace,
            table -> {
              String shard = table.shards().iterator().next();
              return client
                  .send(table, shard, command)
                  .flatMap(ShardClient::refuseStale)
                  .zipWith(
                      client.shards().shard(shard),
                      (answer, replicaSet) -> cursors.keep(replicaSet, command, answer));
            })
        .onErrorMap(UnknownNamespaceException.class, e -> CommandFailure.notFound(namespace));
  }

  /** Lists the collections at the primary shard of a database. */
  Mono<BsonDocument> collections(OpMsg command, String database) {
    return config
        .find("databases", database)
        .flatMap(
            found ->
                found.isEmpty()
                    ? Mono.just(
                        CursorReplies.first(
                            database + ".$cmd." + command.commandName(), 0, List.of()))
                    : client
                        .shards()
                        .name(ShardId.of(found.get(0), "primary", "config.databases"))
                        .flatMap(primary -> client.shard(primary, command))
                        .flatMap(
                            replicaSet ->
                                replicaSet
                                    .send(command)
                                    .map(answer -> cursors.keep(replicaSet, command, answer))));
  }

  /**
   * Lists the databases of all shards with the sums of their sizes. As with mongos, {@code admin}
   * comes from the config servers. The sizes of {@code config} on the shards and the config servers
   * are added. {@code local} is left out.
   */
  Mono<BsonDocument> databases(OpMsg command) {
    return client
        .shards()
        .all()
        .flatMapMany(all -> Flux.fromIterable(all.values()))
        .flatMap(shard -> shard.send(command))
        .map(Answer::document)
        .collectList()
        .zipWith(config.replicaSet().send(command).map(Answer::document))
        .map(both -> joined(both.getT1(), both.getT2()));
  }

  static BsonDocument joined(List<BsonDocument> ofShards, BsonDocument ofConfigServers) {
    for (BsonDocument reply : ofShards) {
      if (!ErrorCodes.ok(reply)) {
        return reply;
      }
    }
    if (!ErrorCodes.ok(ofConfigServers)) {
      return ofConfigServers;
    }
    Map<String, BsonDocument> byName = new TreeMap<>();
    ofShards.forEach(
        reply -> add(byName, reply, name -> !name.equals("admin") && !name.equals("local")));
    add(byName, ofConfigServers, name -> name.equals("admin") || name.equals("config"));
    BsonDocument joined =
        new BsonDocument("databases", new BsonArray(new ArrayList<>(byName.values())));
    if (byName.values().stream().anyMatch(database -> database.containsKey("sizeOnDisk"))) {
      long size =
          byName.values().stream()
              .mapToLong(database -> database.getNumber("sizeOnDisk").longValue())
              .sum();
      joined
          .append("totalSize", new BsonInt64(size))
          .append("totalSizeMb", new BsonInt64(size / (1024 * 1024)));
    }
    return joined.append("ok", new BsonDouble(1));
  }

  private static void add(
      Map<String, BsonDocument> byName, BsonDocument reply, Predicate<String> counts) {
    for (BsonValue each : reply.getArray("databases")) {
      String name = each.asDocument().getString("name").getValue();
      if (counts.test(name)) {
        byName.merge(name, each.asDocument(), Listings::added);
      }
    }
  }

  private static BsonDocument added(BsonDocument one, BsonDocument other) {
    if (!one.containsKey("sizeOnDisk")) {
      return one;
    }
    long size =
        one.getNumber("sizeOnDisk").longValue()
            + other.getNumber("sizeOnDisk", new BsonInt64(0)).longValue();
    return new BsonDocument("name", one.get("name"))
        .append("sizeOnDisk", new BsonInt64(size))
        .append(
            "empty",
            BsonBoolean.valueOf(
                one.getBoolean("empty", BsonBoolean.FALSE).getValue()
                    && other.getBoolean("empty", BsonBoolean.FALSE).getValue()));
  }
}
