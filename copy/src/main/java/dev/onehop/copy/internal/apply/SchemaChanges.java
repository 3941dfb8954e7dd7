package dev.onehop.copy.internal.apply;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoNamespace;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.structure.DestinationStructure;
import dev.onehop.streams.event.StreamEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.BsonArray;
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
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Applies events that concern more than a document. All lanes are up to such an event, and wait for
 * it. Each can be applied again, for an owner may end before it has stored the place; and each
 * comes once from every shard of the source that has the collection.
 *
 * <p>A database that gets another primary shard of the source has its unsharded collections created
 * there under another UUID, and then dropped at the old one. Such a drop is none for the
 * destination. It is told by the create before it, of the same name, while the collection was
 * there: an application's own comes after the drop, from the same shard. So creates are remembered,
 * at the destination.
 *
 * <p>Indexes that are unique, or let documents expire, are left to the end of the copy: lanes do
 * not keep the order between documents, and only the source decides when a document expires.
 *
 * <p>Thread-safe.
 */
final class SchemaChanges {
  private static final Logger log = LoggerFactory.getLogger(SchemaChanges.class);
  private static final Object GUARD = new Object();
  private static final int NAMESPACE_NOT_FOUND = 26;
  private static final int INDEX_NOT_FOUND = 27;
  private static final int NAMESPACE_EXISTS = 48;

  // Of operationDescription, not of the command.
  private static final Set<String> NO_OPTIONS = Set.of("idIndex", "uuid", "temp", "autoIndexId");

  private final MongoClient destination;
  private final MongoCollection<BsonDocument> created;
  private final Mapping mapping;

  /**
   * @param created where creates are remembered
   */
  SchemaChanges(MongoClient destination, MongoCollection<BsonDocument> created, Mapping mapping) {
    this.destination = destination;
    this.created = created;
    this.mapping = mapping;
  }

  /**
   * Applies an event.
   *
   * @param guard fails if another process has the job; each command waits for it
   * @param uncertain whether the destination may be newer than the event
   * @return what is to be written with the place
   */
  Mono<BatchPlan> apply(StreamEvent.Change change, boolean uncertain, Mono<Void> guard) {
    return Mono.defer(() -> apply(change, uncertain))
        .contextWrite(context -> context.put(GUARD, guard));
  }

  private Mono<BatchPlan> apply(StreamEvent.Change change, boolean uncertain) {
    RawBsonDocument event = change.document();
    BsonDocument name = event.getDocument("ns");
    String database = name.getString("db").getValue();
    if (event.getString("operationType").getValue().equals("dropDatabase")) {
      return dropDatabase(database).thenReturn(new BatchPlan());
    }
    if (!name.containsKey("coll")) {
      return ignored(event);
    }
    String namespace = database + "." + name.getString("coll").getValue();
    String to = mapping.destination(namespace);
    BsonDocument description = event.getDocument("operationDescription", new BsonDocument());
    if (event.getString("operationType").getValue().equals("rename")) {
      return rename(change, namespace, to, event.getDocument("to"), uncertain);
    }
    if (to == null) {
      return Mono.just(new BatchPlan());
    }
    MongoNamespace target = new MongoNamespace(to);
    return switch (event.getString("operationType").getValue()) {
      case "create" ->
          create(target, namespace, description).thenReturn(creation(change, namespace));
      case "drop" -> drop(change, namespace, target).thenReturn(new BatchPlan());
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
    log.warn("not applied: {} of {}", event.get("operationType"), event.get("ns"));
    return Mono.just(new BatchPlan());
  }

  // --- Collections that come and go.

  private Mono<Void> create(MongoNamespace target, String namespace, BsonDocument description) {
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
    return run(target.getDatabaseName(), create, NAMESPACE_EXISTS);
  }

  private BsonString viewed(String view, BsonString on) {
    String to = mapping.destination(Mapping.databaseOf(view) + "." + on.getValue());
    return to == null ? on : new BsonString(new MongoNamespace(to).getCollectionName());
  }

  private Mono<Void> drop(StreamEvent.Change change, String namespace, MongoNamespace target) {
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

  /** Whether the collection lives on elsewhere. */
  private static boolean isOfOldHome(StreamEvent.Change drop, BsonDocument lastCreated) {
    BsonValue uuid = drop.document().get("collectionUUID");
    return uuid != null
        && !uuid.equals(lastCreated.get("uuid"))
        && !drop.shard().equals(lastCreated.getString("shard").getValue());
  }

  private Mono<Void> drop(MongoNamespace target) {
    return run(
        target.getDatabaseName(),
        new BsonDocument("drop", new BsonString(target.getCollectionName())),
        NAMESPACE_NOT_FOUND);
  }

  /** Its collections are dropped before, each with an event; views are not. */
  private Mono<Void> dropDatabase(String database) {
    if (!mapping.concerns(database) || mapping.splits(database)) {
      return Mono.empty();
    }
    String one = mapping.destination(database + ".c");
    return one == null
        ? Mono.empty()
        : run(
            Mapping.databaseOf(one),
            new BsonDocument("dropDatabase", new BsonInt32(1)),
            NAMESPACE_NOT_FOUND);
  }

  private BatchPlan creation(StreamEvent.Change change, String namespace) {
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

  private Mono<BatchPlan> rename(
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
    return exists(old)
        .flatMap(
            there -> {
              // Another shard's event has done it.
              if (!there) {
                return Mono.just(plan);
              }
              return uncertain
                  ? renameUncertain(change, from, old, renamed).thenReturn(plan)
                  : rename(old, renamed).thenReturn(plan);
            });
  }

  private Mono<Void> rename(MongoNamespace old, MongoNamespace renamed) {
    return run(
        "admin",
        new BsonDocument("renameCollection", new BsonString(old.getFullName()))
            .append("to", new BsonString(renamed.getFullName()))
            .append("dropTarget", BsonBoolean.TRUE),
        NAMESPACE_NOT_FOUND);
  }

  /** The copy may have met the collection under its old name, under the new one, or both. */
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
        .zipWith(exists(renamed))
        .flatMap(
            found -> {
              boolean whole = found.getT1();
              boolean both = found.getT2();
              if (whole || !both) {
                return rename(old, renamed);
              }
              // There was no other of this name, so what is there was copied after the rename.
              return overAnother
                  ? Mono.error(
                      new IllegalStateException(
                          "%s was renamed over %s while it was copied: begin the copy anew"
                              .formatted(old, renamed)))
                  : drop(old);
            });
  }

  private Mono<Boolean> exists(MongoNamespace namespace) {
    BsonDocument list =
        new BsonDocument("listCollections", new BsonInt32(1))
            .append(
                "filter", new BsonDocument("name", new BsonString(namespace.getCollectionName())))
            .append("nameOnly", BsonBoolean.TRUE);
    return Mono.from(
            destination
                .getDatabase(namespace.getDatabaseName())
                .runCommand(list, BsonDocument.class))
        .map(reply -> !reply.getDocument("cursor").getArray("firstBatch").isEmpty())
        .retryWhen(SourceReads.untilThere());
  }

  // --- What changes of a collection.

  private Mono<Void> createIndexes(
      MongoNamespace target, BsonDocument description, boolean uncertain) {
    List<BsonValue> indexes = new ArrayList<>();
    for (BsonValue index : description.getArray("indexes")) {
      if (!isLate(index.asDocument())) {
        indexes.add(DestinationStructure.toCreate(index.asDocument()));
      }
    }
    return indexes.isEmpty()
        ? Mono.empty()
        : tolerant(
            run(
                target.getDatabaseName(),
                new BsonDocument("createIndexes", new BsonString(target.getCollectionName()))
                    .append("indexes", new BsonArray(indexes))),
            uncertain);
  }

  private static boolean isLate(BsonDocument index) {
    return index.getBoolean("unique", BsonBoolean.FALSE).getValue()
        || index.containsKey("expireAfterSeconds");
  }

  private Mono<Void> dropIndexes(MongoNamespace target, BsonDocument description) {
    return Flux.fromIterable(description.getArray("indexes"))
        .concatMap(
            index ->
                run(
                    target.getDatabaseName(),
                    new BsonDocument("dropIndexes", new BsonString(target.getCollectionName()))
                        .append("index", index.asDocument().getString("name")),
                    INDEX_NOT_FOUND,
                    NAMESPACE_NOT_FOUND))
        .then();
  }

  private Mono<Void> modify(
      MongoNamespace target, String namespace, BsonDocument description, boolean uncertain) {
    BsonDocument modify = new BsonDocument("collMod", new BsonString(target.getCollectionName()));
    description.forEach(modify::append);
    if (modify.isDocument("index")) {
      // Whether documents expire is set at the end.
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
    // Of a view it is told, but can't be changed.
    modify.remove("collation");
    return modify.size() == 1
        ? Mono.empty()
        : tolerant(run(target.getDatabaseName(), modify, INDEX_NOT_FOUND), uncertain);
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
    return isSharded()
        .flatMap(sharded -> sharded ? tolerant(run("admin", run), uncertain) : Mono.empty());
  }

  private Mono<Boolean> isSharded() {
    return Mono.from(
            destination
                .getDatabase("admin")
                .runCommand(new BsonDocument("hello", new BsonInt32(1)), BsonDocument.class))
        .map(hello -> new BsonString("isdbgrid").equals(hello.get("msg")))
        .retryWhen(SourceReads.untilThere());
  }

  // --- Commands.

  /**
   * The collection may be newer, and then it is as the end wants it, or a later event makes it so.
   */
  private static Mono<Void> tolerant(Mono<Void> command, boolean uncertain) {
    return uncertain
        ? command.onErrorResume(
            MongoCommandException.class,
            refused -> {
              log.info("not applied to what may be newer: {}", refused.getErrorMessage());
              return Mono.empty();
            })
        : command;
  }

  private Mono<Void> run(String database, BsonDocument command, int... ignored) {
    if (!command.containsKey("writeConcern")) {
      command.append("writeConcern", new BsonDocument("w", new BsonString("majority")));
    }
    return Mono.deferContextual(
            context ->
                context
                    .<Mono<Void>>getOrEmpty(GUARD)
                    .orElseGet(Mono::empty)
                    .thenMany(destination.getDatabase(database).runCommand(command))
                    .next())
        .retryWhen(SourceReads.untilThere())
        .then()
        .onErrorResume(
            MongoCommandException.class,
            refused -> {
              for (int code : ignored) {
                if (refused.getErrorCode() == code) {
                  return Mono.empty();
                }
              }
              return Mono.error(refused);
            });
  }
}
