package dev.onehop.testbed.standin;

import dev.onehop.shards.cluster.ConfigServer;
import dev.onehop.shards.cluster.ReplicaSet.Answer;
import dev.onehop.shards.command.ClusterState;
import dev.onehop.shards.command.ShardClient;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.List;
import java.util.Set;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Creates and drops databases, collections and indexes. As with a mongos, the primary shard
 * coordinates commands on a whole collection.
 */
final class Ddl {
  private static final Set<String> ON_EVERY_OWNER =
      Set.of("createIndexes", "dropIndexes", "collMod");
  private static final BsonDocument MAJORITY = new BsonDocument("w", new BsonString("majority"));

  private final ConfigServer config;
  private final ShardClient client;
  private final ClusterState cluster;

  Ddl(ClusterState cluster, ShardClient client) {
    this.config = cluster.config();
    this.client = client;
    this.cluster = cluster;
  }

  static boolean isOnEveryOwner(String command) {
    return ON_EVERY_OWNER.contains(command);
  }

  /**
   * Sends a command to all shards that own a part of the collection. Returns the first refusal, or
   * the first reply if no shard refuses.
   */
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

  /** Creates an unsharded collection or a view, on the primary shard. */
  Mono<BsonDocument> create(OpMsg command, String database) {
    String namespace = database + "." + command.body().getString("create").getValue();
    return client.retryWhileStale(
        namespace,
        table ->
            table.isSharded()
                ? Mono.error(
                    new CommandFailure(
                        ErrorCodes.NAMESPACE_EXISTS,
                        "NamespaceExists",
                        "Collection already exists. NS: " + namespace))
                : client
                    .send(table, table.primaryShard(), command)
                    .flatMap(ShardClient::refuseStale)
                    .map(Answer::document));
  }

  Mono<BsonDocument> drop(OpMsg command, String database) {
    String collection = command.body().getString("drop").getValue();
    String namespace = database + "." + collection;
    BsonDocument drop = new BsonDocument("_shardsvrDropCollection", new BsonString(collection));
    if (command.body().containsKey("collectionUUID")) {
      drop.append("collectionUUID", command.body().get("collectionUUID"));
    }
    return onPrimary(database, drop, CommandFailure.notFound(namespace))
        .doOnTerminate(() -> cluster.forget(namespace));
  }

  Mono<BsonDocument> dropDatabase(String database) {
    return onPrimary(database, new BsonDocument("_shardsvrDropDatabase", new BsonInt32(1)), null)
        .doOnTerminate(() -> forgetDatabase(database));
  }

  /** Discards the routing tables of all collections of a database. */
  private void forgetDatabase(String database) {
    for (String namespace : cluster.namespaces()) {
      if (namespace.startsWith(database + ".")) {
        cluster.forget(namespace);
      }
    }
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
            CommandFailure.notFound(from))
        .doOnTerminate(
            () -> {
              cluster.forget(from);
              cluster.forget(to);
            });
  }

  /**
   * @param unknown the error if there is no such database; null if the command succeeds in this
   *     case
   */
  private Mono<BsonDocument> onPrimary(
      String database, BsonDocument command, @Nullable CommandFailure unknown) {
    return config
        .find("databases", database)
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

  private static BsonDocument ok() {
    return new BsonDocument("ok", new BsonDouble(1));
  }
}
