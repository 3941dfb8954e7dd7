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
import java.util.Set;
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
 */
final class SchemaChanges {
  private static final Logger log = LoggerFactory.getLogger(SchemaChanges.class);
  private static final int INDEX_NOT_FOUND = 27;

  private final SchemaCommands commands;
  private final CollectionChanges collections;
  private final Mapping mapping;

  /**
   * @param created the collection that stores the last create event of each collection
   */
  SchemaChanges(MongoClient destination, MongoCollection<BsonDocument> created, Mapping mapping) {
    this.commands = new SchemaCommands(destination);
    this.collections = new CollectionChanges(commands, created, mapping);
    this.mapping = mapping;
  }

  /**
   * Applies an event.
   *
   * @param guard fails if another process owns the job; each command starts only after the guard
   *     has completed
   * @param uncertain whether the destination may be newer than the event
   * @return the documents to write before the position is stored
   */
  Mono<BatchPlan> apply(StreamEvent.Change change, boolean uncertain, Mono<Void> guard) {
    return SchemaCommands.guarded(Mono.defer(() -> apply(change, uncertain)), guard);
  }

  private Mono<BatchPlan> apply(StreamEvent.Change change, boolean uncertain) {
    RawBsonDocument event = change.document();
    BsonDocument name = event.getDocument("ns");
    String database = name.getString("db").getValue();
    if (event.getString("operationType").getValue().equals("dropDatabase")) {
      return collections.dropDatabase(database).thenReturn(new BatchPlan());
    }
    if (!name.containsKey("coll")) {
      return ignored(event);
    }
    String namespace = database + "." + name.getString("coll").getValue();
    String to = mapping.destination(namespace);
    BsonDocument description = event.getDocument("operationDescription", new BsonDocument());
    if (event.getString("operationType").getValue().equals("rename")) {
      return collections.rename(change, namespace, to, event.getDocument("to"), uncertain);
    }
    if (to == null) {
      return Mono.just(new BatchPlan());
    }
    MongoNamespace target = new MongoNamespace(to);
    return switch (event.getString("operationType").getValue()) {
      case "create" ->
          collections
              .create(target, namespace, description)
              .thenReturn(collections.creation(change, namespace));
      case "drop" -> collections.drop(change, namespace, target).thenReturn(new BatchPlan());
      case "createIndexes" ->
          createIndexes(target, description, uncertain).thenReturn(new BatchPlan());
      case "dropIndexes" -> dropIndexes(target, description).thenReturn(new BatchPlan());
      case "modify" ->
          modify(target, namespace, description, uncertain).thenReturn(new BatchPlan());
      case "shardCollection" ->
          shard(target, description, "shardCollection", uncertain).thenReturn(new BatchPlan());
      case "refineCollectionShardKey" ->
          shard(target, description, "refineCollectionShardKey", uncertain)
              .thenReturn(new BatchPlan());
      case "reshardCollection" ->
          shard(target, description, "reshardCollection", uncertain).thenReturn(new BatchPlan());
      default -> ignored(event);
    };
  }

  private static Mono<BatchPlan> ignored(BsonDocument event) {
    log.warn("the event {} of {} is not applied", event.get("operationType"), event.get("ns"));
    return Mono.just(new BatchPlan());
  }

  private Mono<Void> createIndexes(
      MongoNamespace target, BsonDocument description, boolean uncertain) {
    List<BsonValue> indexes = new ArrayList<>();
    for (BsonValue index : description.getArray("indexes")) {
      if (!DestinationStructure.isLate(index.asDocument())) {
        indexes.add(DestinationStructure.toCreate(index.asDocument()));
      }
    }
    return indexes.isEmpty()
        ? Mono.empty()
        : SchemaCommands.tolerant(
            commands.run(
                target.getDatabaseName(),
                new BsonDocument("createIndexes", new BsonString(target.getCollectionName()))
                    .append("indexes", new BsonArray(indexes))),
            uncertain);
  }

  private Mono<Void> dropIndexes(MongoNamespace target, BsonDocument description) {
    return Flux.fromIterable(description.getArray("indexes"))
        .concatMap(
            index ->
                commands.run(
                    target.getDatabaseName(),
                    new BsonDocument("dropIndexes", new BsonString(target.getCollectionName()))
                        .append("index", index.asDocument().getString("name")),
                    INDEX_NOT_FOUND,
                    ErrorCodes.NAMESPACE_NOT_FOUND))
        .then();
  }

  private Mono<Void> modify(
      MongoNamespace target, String namespace, BsonDocument description, boolean uncertain) {
    BsonDocument modify = new BsonDocument("collMod", new BsonString(target.getCollectionName()));
    description.forEach(modify::append);
    if (modify.isDocument("index")) {
      // The expiry of documents is set at the end of the copy, so it is left out here.
      BsonDocument index = new BsonDocument();
      index.putAll(modify.getDocument("index"));
      index.remove("expireAfterSeconds");
      modify.put("index", index);
      if (index.keySet().equals(Set.of("name"))) {
        modify.remove("index");
      }
    }
    if (modify.get("viewOn") instanceof BsonString on) {
      modify.put("viewOn", collections.viewed(namespace, on));
    }
    modify.remove("expireAfterSeconds");
    // The event of a view contains the collation, but collMod can't change a collation.
    modify.remove("collation");
    return modify.size() == 1
        ? Mono.empty()
        : SchemaCommands.tolerant(
            commands.run(target.getDatabaseName(), modify, INDEX_NOT_FOUND), uncertain);
  }

  private Mono<Void> shard(
      MongoNamespace target, BsonDocument description, String command, boolean uncertain) {
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
        .flatMap(
            sharded ->
                sharded
                    ? SchemaCommands.tolerant(commands.run("admin", run), uncertain)
                    : Mono.empty());
  }
}
