package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.structure.DestinationStructure;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.wire.message.ErrorCodes;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Applies events that concern more than one document. All channels wait for such an event. An event
 * may be applied several times: the owner of a channel may end before it has stored its position,
 * and every shard of the source that has the collection sends the event.
 *
 * <p>Indexes that are unique or make documents expire are built only at the end of the copy. A
 * unique index could refuse documents, because channels do not keep the order between events of
 * different documents. The destination must not remove expired documents before the source has
 * removed them.
 *
 * <p>Thread-safe.
 *
 * @param created the collection that stores the last create event of each collection
 */
record SchemaChanges(
    MongoClient destination, MongoCollection<BsonDocument> created, Mapping mapping) {
  private static final Logger log = LoggerFactory.getLogger(SchemaChanges.class);

  /**
   * Applies an event.
   *
   * @param guard fails if another process owns the job; each command starts only after the guard
   *     has completed
   * @param uncertain whether the destination may be newer than the event
   * @return the documents to write before the position is stored
   */
  Mono<BatchPlan> apply(StreamEvent.Change change, boolean uncertain, Mono<Void> guard) {
    return Mono.defer(() -> apply(change, new SchemaCommands(destination, guard, uncertain)));
  }

  private Mono<BatchPlan> apply(StreamEvent.Change change, SchemaCommands commands) {
    CollectionChanges collections = new CollectionChanges(commands, created, mapping);
    RawBsonDocument event = change.document();
    String type = event.getString("operationType").getValue();
    BsonDocument name = event.getDocument("ns");
    String database = name.getString("db").getValue();
    if (type.equals("dropDatabase")) {
      return collections.dropDatabase(database).thenReturn(new BatchPlan());
    }
    if (!name.containsKey("coll")) {
      return ignored(event).thenReturn(new BatchPlan());
    }
    String namespace = database + "." + name.getString("coll").getValue();
    String to = mapping.destination(namespace);
    if (type.equals("rename")) {
      return collections.rename(change, namespace, to, event.getDocument("to"));
    }
    if (to == null) {
      return Mono.just(new BatchPlan());
    }
    MongoNamespace target = new MongoNamespace(to);
    BsonDocument description = event.getDocument("operationDescription", new BsonDocument());
    Mono<Void> applied =
        switch (type) {
          case "create" -> collections.create(target, namespace, description);
          case "drop" -> collections.drop(change, namespace, target);
          case "createIndexes" -> createIndexes(commands, target, description);
          case "dropIndexes" -> dropIndexes(commands, target, description);
          case "modify" -> collections.modify(target, namespace, description);
          case "shardCollection", "refineCollectionShardKey", "reshardCollection" ->
              shard(commands, target, description, type);
          default -> ignored(event);
        };
    return applied.thenReturn(
        type.equals("create") ? collections.creation(change, namespace) : new BatchPlan());
  }

  private static Mono<Void> ignored(BsonDocument event) {
    log.warn("the event {} of {} is not applied", event.get("operationType"), event.get("ns"));
    return Mono.empty();
  }

  private static Mono<Void> createIndexes(
      SchemaCommands commands, MongoNamespace target, BsonDocument description) {
    List<BsonValue> indexes = new ArrayList<>();
    for (BsonValue index : description.getArray("indexes")) {
      if (!DestinationStructure.isLate(index.asDocument())) {
        indexes.add(DestinationStructure.toCreate(index.asDocument()));
      }
    }
    return indexes.isEmpty()
        ? Mono.empty()
        : commands.runTolerant(
            target.getDatabaseName(),
            new BsonDocument("createIndexes", new BsonString(target.getCollectionName()))
                .append("indexes", new BsonArray(indexes)));
  }

  private static Mono<Void> dropIndexes(
      SchemaCommands commands, MongoNamespace target, BsonDocument description) {
    return Flux.fromIterable(description.getArray("indexes"))
        .concatMap(
            index ->
                commands.run(
                    target.getDatabaseName(),
                    new BsonDocument("dropIndexes", new BsonString(target.getCollectionName()))
                        .append("index", index.asDocument().getString("name")),
                    CollectionChanges.INDEX_NOT_FOUND,
                    ErrorCodes.NAMESPACE_NOT_FOUND))
        .then();
  }

  private static Mono<Void> shard(
      SchemaCommands commands, MongoNamespace target, BsonDocument description, String command) {
    BsonDocument run = new BsonDocument(command, new BsonString(target.getFullName()));
    run.append("key", description.getDocument("shardKey"));
    for (String option :
        List.of("unique", "collation", "numInitialChunks", "presplitHashedZones")) {
      if (description.containsKey(option)) {
        run.append(option, description.get(option));
      }
    }
    return commands
        .isSharded()
        .flatMap(sharded -> sharded ? commands.runTolerant("admin", run) : Mono.empty());
  }
}
