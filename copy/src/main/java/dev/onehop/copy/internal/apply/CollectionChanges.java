package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
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
 * Applies events that create, drop and rename collections.
 *
 * <p>A database of the source may move to another primary shard. Its unsharded collections are
 * created there under another UUID, and then dropped at the old one. The destination does not apply
 * such a drop. It is recognised by the create before it, of the same name, while the collection
 * existed. An application's create comes after the drop, from the same shard. So the destination
 * stores creates.
 *
 * <p>Thread-safe.
 */
final class CollectionChanges {
  private static final Logger log = LoggerFactory.getLogger(CollectionChanges.class);
  private static final int NAMESPACE_EXISTS = 48;

  // Fields of operationDescription that the command does not have.
  private static final Set<String> NO_OPTIONS = Set.of("idIndex", "uuid", "temp", "autoIndexId");

  private final SchemaCommands commands;
  private final MongoCollection<BsonDocument> created;
  private final Mapping mapping;

  /**
   * @param created stores the creates
   */
  CollectionChanges(
      SchemaCommands commands, MongoCollection<BsonDocument> created, Mapping mapping) {
    this.commands = commands;
    this.created = created;
    this.mapping = mapping;
  }

  Mono<Void> create(MongoNamespace target, String namespace, BsonDocument description) {
    BsonDocument create = new BsonDocument("create", new BsonString(target.getCollectionName()));
    for (Map.Entry<String, BsonValue> option : description.entrySet()) {
      if (!NO_OPTIONS.contains(option.getKey()) && !option.getKey().equals("expireAfterSeconds")) {
        create.append(option.getKey(), option.getValue());
      }
    }
    if (create.get("viewOn") instanceof BsonString on) {
      if (on.getValue().startsWith("system.buckets.")) {
        log.info("the time series {} is copied when the copy finishes", namespace);
        return Mono.empty();
      }
      create.put("viewOn", viewed(namespace, on));
    }
    if (create.isDocument("collation")) {
      BsonDocument collation = create.getDocument("collation").clone();
      collation.remove("version");
      create.put("collation", collation);
    }
    return commands.run(target.getDatabaseName(), create, NAMESPACE_EXISTS);
  }

  BsonString viewed(String view, BsonString on) {
    String to = mapping.destination(Mapping.databaseOf(view) + "." + on.getValue());
    return to == null ? on : new BsonString(new MongoNamespace(to).getCollectionName());
  }

  Mono<Void> drop(StreamEvent.Change change, String namespace, MongoNamespace target) {
    return Mono.from(created.find(new BsonDocument("_id", new BsonString(namespace))).first())
        .map(last -> isOfOldHome(change, last))
        .defaultIfEmpty(false)
        .flatMap(
            ofOldHome -> {
              if (ofOldHome) {
                log.info("{} has another primary shard, and is not dropped", namespace);
                return Mono.empty();
              }
              return drop(target);
            });
  }

  /** Whether the collection still exists on another shard. */
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

  /** Drops a database with its views. Its collections were dropped before, each by an event. */
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
        new Lane.Document(created.getNamespace(), Ids.key(Target.id(document))),
        List.of(target.put(new RawBsonDocument(document, new BsonDocumentCodec()))));
  }

  Mono<BatchPlan> rename(
      StreamEvent.Change change,
      String from,
      @Nullable String fromHere,
      BsonDocument toName,
      boolean uncertain) {
    String to = toName.getString("db").getValue() + "." + toName.getString("coll").getValue();
    String toHere = mapping.destination(to);
    if (fromHere == null && toHere == null) {
      return Mono.just(new BatchPlan());
    }
    if (fromHere == null) {
      return Mono.error(
          new IllegalStateException(
              from + " was renamed to " + to + ", which is copied: begin the copy anew"));
    }
    if (toHere == null) {
      return drop(new MongoNamespace(fromHere)).thenReturn(new BatchPlan());
    }
    MongoNamespace old = new MongoNamespace(fromHere);
    MongoNamespace renamed = new MongoNamespace(toHere);
    BatchPlan plan = creation(change, to);
    return commands
        .exists(old)
        .flatMap(
            there -> {
              // Another shard's event has renamed it.
              if (!there) {
                return Mono.just(plan);
              }
              return uncertain
                  ? renameUncertain(change, from, old, renamed).thenReturn(plan)
                  : rename(old, renamed).thenReturn(plan);
            });
  }

  private Mono<Void> rename(MongoNamespace old, MongoNamespace renamed) {
    return commands.run(
        "admin",
        new BsonDocument("renameCollection", new BsonString(old.getFullName()))
            .append("to", new BsonString(renamed.getFullName()))
            .append("dropTarget", BsonBoolean.TRUE),
        ErrorCodes.NAMESPACE_NOT_FOUND);
  }

  /** The copy may have read the collection under its old name, its new name, or both. */
  private Mono<Void> renameUncertain(
      StreamEvent.Change change, String from, MongoNamespace old, MongoNamespace renamed) {
    Mono<Boolean> wholeByEvents =
        Mono.from(created.find(new BsonDocument("_id", new BsonString(from))).first())
            .map(
                last ->
                    last.get("uuid", BsonNull.VALUE)
                        .equals(change.document().get("collectionUUID", BsonNull.VALUE)))
            .defaultIfEmpty(false);
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
              // No other collection had the new name, so the present one was copied after the
              // rename.
              return overAnother
                  ? Mono.error(
                      new IllegalStateException(
                          "%s was renamed over %s while it was copied: begin the copy anew"
                              .formatted(old, renamed)))
                  : drop(old);
            });
  }
}
