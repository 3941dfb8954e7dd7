package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.wire.message.ErrorCodes;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Applies events that create, change, drop and rename collections.
 *
 * <p>A database of the source may get another primary shard. The new primary shard then creates the
 * unsharded collections with other UUIDs, and the old primary shard drops them. Such a drop is not
 * applied. It is recognised by the last create event of the same name: that event comes from
 * another shard and has another UUID than the drop. If an application drops and creates a
 * collection again, the create event comes after the drop event instead. For this check, the
 * destination stores the last create event of each collection.
 *
 * <p>Thread-safe.
 *
 * @param created the collection that stores the last create event of each collection
 */
record CollectionChanges(
    SchemaCommands commands, MongoCollection<BsonDocument> created, Mapping mapping) {
  static final int INDEX_NOT_FOUND = 27;

  private static final Logger log = LoggerFactory.getLogger(CollectionChanges.class);

  // Fields of operationDescription that the command create does not accept.
  private static final Set<String> NO_OPTIONS = Set.of("idIndex", "uuid", "temp", "autoIndexId");

  Mono<Void> create(MongoNamespace target, String namespace, BsonDocument description) {
    BsonDocument create = new BsonDocument("create", new BsonString(target.getCollectionName()));
    for (Map.Entry<String, BsonValue> option : description.entrySet()) {
      if (!NO_OPTIONS.contains(option.getKey()) && !option.getKey().equals("expireAfterSeconds")) {
        create.append(option.getKey(), option.getValue());
      }
    }
    if (create.get("viewOn") instanceof BsonString on) {
      if (on.getValue().startsWith("system.buckets.")) {
        log.info(
            "the time series {} is copied by the last steps of the copy, after 'copy finish'",
            namespace);
        return Mono.empty();
      }
      create.put("viewOn", viewed(namespace, on));
    }
    if (create.isDocument("collation")) {
      BsonDocument collation = create.getDocument("collation").clone();
      collation.remove("version");
      create.put("collation", collation);
    }
    return commands.run(target.getDatabaseName(), create, ErrorCodes.NAMESPACE_EXISTS);
  }

  Mono<Void> modify(MongoNamespace target, String namespace, BsonDocument description) {
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
      modify.put("viewOn", viewed(namespace, on));
    }
    modify.remove("expireAfterSeconds");
    // The event of a view contains the collation, but collMod can't change a collation.
    modify.remove("collation");
    return modify.size() == 1
        ? Mono.empty()
        : commands.runTolerant(target.getDatabaseName(), modify, INDEX_NOT_FOUND);
  }

  private BsonString viewed(String view, BsonString on) {
    String to = mapping.destination(Mapping.databaseOf(view) + "." + on.getValue());
    return to == null ? on : new BsonString(new MongoNamespace(to).getCollectionName());
  }

  Mono<Void> drop(StreamEvent.Change change, String namespace, MongoNamespace target) {
    return lastCreated(namespace)
        .filter(last -> isOfOldHome(change, last))
        .hasElement()
        .flatMap(
            ofOldHome -> {
              if (ofOldHome) {
                log.info("{} still exists on its new primary shard, and is not dropped", namespace);
                return Mono.empty();
              }
              return drop(target);
            });
  }

  private Mono<BsonDocument> lastCreated(String namespace) {
    return Mono.from(created.find(Filters.eq(namespace)).first());
  }

  /**
   * Whether a drop comes from the old primary shard, so that the collection still exists on the new
   * primary shard.
   */
  private static boolean isOfOldHome(StreamEvent.Change drop, BsonDocument lastCreated) {
    BsonValue uuid = drop.document().get("collectionUUID");
    return uuid != null
        && !uuid.equals(lastCreated.get("uuid"))
        && !drop.shard().equals(lastCreated.getString("shard").getValue());
  }

  private Mono<Void> drop(MongoNamespace target) {
    return commands.run(
        target.getDatabaseName(),
        new BsonDocument("drop", new BsonString(target.getCollectionName())),
        ErrorCodes.NAMESPACE_NOT_FOUND);
  }

  /**
   * Drops a database with its views. The collections of the database were dropped before, each by
   * its own event.
   */
  Mono<Void> dropDatabase(String database) {
    if (!mapping.concerns(database) || mapping.splits(database)) {
      return Mono.empty();
    }
    String one = mapping.destination(database + ".c");
    return one == null
        ? Mono.empty()
        : commands.run(
            Mapping.databaseOf(one),
            new BsonDocument("dropDatabase", new BsonInt32(1)),
            ErrorCodes.NAMESPACE_NOT_FOUND);
  }

  BatchPlan creation(StreamEvent.Change change, String namespace) {
    BsonDocument remembered =
        new BsonDocument("_id", new BsonString(namespace))
            .append("uuid", change.document().get("collectionUUID", BsonNull.VALUE))
            .append("shard", new BsonString(change.shard()));
    Target target = new Target(created.getNamespace(), List.of(), false, false);
    BatchPlan plan = new BatchPlan();
    remember(plan, target, remembered);
    if (CappedCollections.isCreated(change.document())) {
      remember(
          plan, target, new BsonDocument("_id", change.document().getBinary("collectionUUID")));
    }
    return plan;
  }

  private void remember(BatchPlan plan, Target target, BsonDocument document) {
    plan.add(
        target,
        0,
        new Lane.Document(created.getNamespace(), Target.key(Target.id(document))),
        List.of(target.put(new RawBsonDocument(document, new BsonDocumentCodec()))));
  }

  Mono<BatchPlan> rename(
      StreamEvent.Change change, String from, @Nullable String fromHere, BsonDocument toName) {
    String to = toName.getString("db").getValue() + "." + toName.getString("coll").getValue();
    String toHere = mapping.destination(to);
    if (fromHere == null && toHere == null) {
      return Mono.just(new BatchPlan());
    }
    if (fromHere == null) {
      return Mono.error(
          new IllegalStateException(
              "%s is not copied, but was renamed to %s, which is copied: begin the copy again"
                  .formatted(from, to)));
    }
    if (toHere == null) {
      return drop(new MongoNamespace(fromHere)).thenReturn(new BatchPlan());
    }
    MongoNamespace old = new MongoNamespace(fromHere);
    MongoNamespace renamed = new MongoNamespace(toHere);
    BatchPlan plan = creation(change, to);
    return commands
        .exists(old)
        // It is missing if the event of the same rename from another shard was applied before.
        .filter(there -> there)
        .flatMap(
            there ->
                commands.uncertain()
                    ? renameUncertain(change, from, old, renamed)
                    : rename(old, renamed))
        .thenReturn(plan);
  }

  private Mono<Void> rename(MongoNamespace old, MongoNamespace renamed) {
    return commands.run(
        "admin",
        new BsonDocument("renameCollection", new BsonString(old.getFullName()))
            .append("to", new BsonString(renamed.getFullName()))
            .append("dropTarget", BsonBoolean.TRUE),
        ErrorCodes.NAMESPACE_NOT_FOUND);
  }

  /**
   * Renames a collection that may have been renamed while the full phase read it. The destination
   * may have the collection under the old name, under the new name, or under both names.
   */
  private Mono<Void> renameUncertain(
      StreamEvent.Change change, String from, MongoNamespace old, MongoNamespace renamed) {
    BsonValue uuid = change.document().get("collectionUUID", BsonNull.VALUE);
    Mono<Boolean> wholeByEvents =
        lastCreated(from)
            .filter(last -> last.get("uuid", BsonNull.VALUE).equals(uuid))
            .hasElement();
    boolean overAnother =
        change
            .document()
            .getDocument("operationDescription", new BsonDocument())
            .containsKey("dropTarget");
    return wholeByEvents
        .zipWith(commands.exists(renamed))
        .flatMap(
            found -> {
              boolean whole = found.getT1();
              boolean both = found.getT2();
              if (whole || !both) {
                return rename(old, renamed);
              }
              // If the rename has replaced no other collection, the collection with the new name
              // was copied after the rename, and the one with the old name is no longer needed.
              return overAnother
                  ? Mono.error(
                      new IllegalStateException(
                          "%s was renamed during the copy, and replaced %s: begin the copy again"
                              .formatted(old, renamed)))
                  : drop(old);
            });
  }
}
