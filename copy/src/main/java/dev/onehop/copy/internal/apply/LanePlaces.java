package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import com.mongodb.reactivestreams.client.MongoClient;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Spreads the documents in which lanes keep their places over the shards, as many on each. A
 * transaction goes by way of the mongos beside the shard of its first statement, which is for this
 * document: so all of these work alike. Where it can't be done, all go by way of one.
 */
final class LanePlaces {
  private static final Logger log = LoggerFactory.getLogger(LanePlaces.class);

  private final MongoClient destination;
  private final String namespace;
  private final int lanes;

  /**
   * @param places the collection, which is there and empty
   * @param lanes how many, whose ids are their numbers
   */
  LanePlaces(MongoClient destination, MongoNamespace places, int lanes) {
    this.destination = destination;
    this.namespace = places.getFullName();
    this.lanes = lanes;
  }

  /** Never fails. */
  Mono<Void> spread() {
    return run(new BsonDocument("hello", new BsonInt32(1)))
        .filter(hello -> new BsonString("isdbgrid").equals(hello.get("msg")))
        .flatMapMany(
            mongos ->
                Flux.from(
                        destination
                            .getDatabase("config")
                            .getCollection("shards", BsonDocument.class)
                            .find())
                    .map(shard -> shard.getString("_id")))
        .collectList()
        .filter(shards -> shards.size() > 1)
        .flatMap(shards -> Flux.fromIterable(commands(shards)).concatMap(this::run).then())
        .doOnError(refused -> log.info("the lanes' places stay on one shard", refused))
        .onErrorComplete();
  }

  private List<BsonDocument> commands(List<BsonString> shards) {
    BsonString collection = new BsonString(namespace);
    List<BsonDocument> commands = new ArrayList<>();
    commands.add(
        new BsonDocument("shardCollection", collection)
            .append("key", new BsonDocument("_id", new BsonInt32(1))));
    for (int i = 1; i < shards.size(); i++) {
      commands.add(
          new BsonDocument("split", collection).append("middle", firstOf(i, shards.size())));
    }
    for (int i = 0; i < shards.size(); i++) {
      commands.add(
          new BsonDocument("moveChunk", collection)
              .append("find", firstOf(i, shards.size()))
              .append("to", shards.get(i)));
    }
    return commands;
  }

  private BsonDocument firstOf(int shard, int shards) {
    return new BsonDocument("_id", new BsonInt32(shard * lanes / shards));
  }

  private Mono<BsonDocument> run(BsonDocument command) {
    return Mono.from(destination.getDatabase("admin").runCommand(command, BsonDocument.class));
  }
}
