package dev.onehop.routing.internal.direct;

import dev.onehop.routing.internal.catalog.UnknownNamespaceException;
import dev.onehop.routing.internal.direct.cursor.Cursors;
import dev.onehop.routing.internal.direct.shard.CommandFailure;
import dev.onehop.routing.internal.direct.shard.ConfigServer;
import dev.onehop.routing.internal.direct.shard.ErrorCodes;
import dev.onehop.routing.internal.direct.shard.ReplicaSet.Answer;
import dev.onehop.routing.internal.wire.OpMsg;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Creating and dropping databases, collections and indexes. What concerns a collection as a whole
 * is left to the primary shard's own coordinators, as mongos does.
 */
final class Ddl {
  private static final Set<String> ON_EVERY_OWNER =
      Set.of("createIndexes", "dropIndexes", "collMod");
  private static final BsonDocument MAJORITY = new BsonDocument("w", new BsonString("majority"));

  private final ConfigServer config;
  private final ShardClient client;
  private final Cursors cursors;

  Ddl(ConfigServer config, ShardClient client, Cursors cursors) {
    this.config = config;
    this.client = client;
    this.cursors = cursors;
  }

  static boolean isOnEveryOwner(String command) {
    return ON_EVERY_OWNER.contains(command);
  }

  /** A command on all shards that own a part of the collection; the first refusal is the answer. */
  Mono<BsonDocument> onEveryOwner(OpMsg command, String namespace) {
    return client.retryWhileStale(
        namespace,
        table ->
            Flux.fromIterable(table.shards())
                .concatMap(
                    shard -> client.send(table, shard, command).flatMap(ShardClient::refuseStale))
                .map(Answer::document)
                .collectList()
                .map(Ddl::firstRefusal));
  }

  private static BsonDocument firstRefusal(List<BsonDocument> replies) {
    return replies.stream()
        .filter(reply -> !ErrorCodes.ok(reply))
        .findFirst()
        .orElseGet(() -> replies.get(0));
  }

  /** Indexes are the same on all shards that own a part. */
  Mono<BsonDocument> listIndexes(OpMsg command, String namespace) {
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
        .onErrorMap(UnknownNamespaceException.class, e -> notFound(namespace));
  }

  /** Creates an unsharded collection or a view, on the primary shard. */
  Mono<BsonDocument> create(OpMsg command, String database) {
    String namespace = database + "." + command.body().getString("create").getValue();
    return client.retryWhileStale(
        namespace,
        table ->
            client
                .send(table, table.primaryShard(), command)
                .flatMap(ShardClient::refuseStale)
                .map(Answer::document));
  }

  Mono<BsonDocument> drop(OpMsg command, String database) {
    String collection = command.body().getString("drop").getValue();
    String namespace = database + "." + collection;
    return onPrimary(
            database,
            new BsonDocument("_shardsvrDropCollection", new BsonString(collection)),
            notFound(namespace))
        .doOnTerminate(() -> client.forget(namespace));
  }

  Mono<BsonDocument> dropDatabase(String database) {
    return onPrimary(database, new BsonDocument("_shardsvrDropDatabase", new BsonInt32(1)), null)
        .doOnTerminate(() -> client.forgetDatabase(database));
  }

  Mono<BsonDocument> rename(OpMsg command) {
    String from = command.body().getString("renameCollection").getValue();
    String to = command.body().getString("to").getValue();
    String database = from.substring(0, from.indexOf('.'));
    return onPrimary(
            database,
            new BsonDocument(
                    "_shardsvrRenameCollection",
                    new BsonString(from.substring(database.length() + 1)))
                .append("to", new BsonString(to))
                .append("dropTarget", command.body().getBoolean("dropTarget", BsonBoolean.FALSE))
                .append("stayTemp", BsonBoolean.FALSE),
            notFound(from))
        .doOnTerminate(
            () -> {
              client.forget(from);
              client.forget(to);
            });
  }

  /**
   * @param unknown the answer if there is no such database; null if that is all right
   */
  private Mono<BsonDocument> onPrimary(
      String database, BsonDocument command, @Nullable CommandFailure unknown) {
    return config
        .find("databases", new BsonDocument("_id", new BsonString(database)), new BsonDocument())
        .flatMap(
            found -> {
              if (found.isEmpty()) {
                return unknown == null ? Mono.just(ok()) : Mono.error(unknown);
              }
              BsonDocument entry = found.get(0);
              OpMsg message =
                  OpMsg.command(
                      command
                          .append("databaseVersion", entry.getDocument("version"))
                          .append("writeConcern", MAJORITY)
                          .append("$db", new BsonString(database)));
              return client
                  .shards()
                  .shard(entry.getString("primary").getValue())
                  .flatMap(replicaSet -> replicaSet.send(message))
                  .map(Answer::document);
            });
  }

  /**
   * Databases of all shards with their sizes added up. As with mongos, {@code admin} is that of the
   * config servers, {@code config} is everywhere, and {@code local} is nobody's business.
   */
  Mono<BsonDocument> listDatabases(OpMsg command) {
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
        byName.merge(name, each.asDocument(), Ddl::added);
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

  private static BsonDocument ok() {
    return new BsonDocument("ok", new BsonDouble(1));
  }

  private static CommandFailure notFound(String namespace) {
    return new CommandFailure(
        ErrorCodes.NAMESPACE_NOT_FOUND, "NamespaceNotFound", "ns not found " + namespace);
  }
}
