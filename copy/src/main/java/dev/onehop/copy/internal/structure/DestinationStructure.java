package dev.onehop.copy.internal.structure;

import com.mongodb.MongoCommandException;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.structure.CollectionSpec.Kind;
import dev.onehop.copy.internal.structure.CollectionSpec.Sharding;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.core.bson.SortableKey;
import dev.onehop.wire.message.ErrorCodes;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;

/**
 * Creates collections, views and indexes at the destination. Each method may be called again after
 * a failure. Unique indexes and the expiry of documents are set only at the end: during the copy,
 * they would refuse or remove documents.
 */
public final class DestinationStructure {
  private static final int COLLATED_VERSION = 2;
  private static final String EXPIRES = "expireAfterSeconds";

  private final ClusterEnd destination;
  private final Mapping mapping;
  private final Consumer<String> notes;
  private final ShardLayout layout;

  /**
   * @param notes called with a text for each difference from the source, with the reason
   */
  public DestinationStructure(ClusterEnd destination, Mapping mapping, Consumer<String> notes) {
    this.destination = destination;
    this.mapping = mapping;
    this.notes = notes;
    this.layout = new ShardLayout(destination, notes);
  }

  /**
   * Drops a collection or view. Nothing is dropped if the collection has another UUID by now.
   * Servers that do not accept a UUID drop any collection of this name.
   *
   * @param info the {@code info} of the collection in the reply to {@code listCollections}
   */
  public void drop(String namespace, BsonDocument info) throws InterruptedException {
    BsonDocument drop = new BsonDocument("drop", new BsonString(Mapping.collectionOf(namespace)));
    if (info.containsKey("uuid") && destination.takesUuids()) {
      BsonDocument known = drop.clone().append("collectionUUID", info.get("uuid"));
      try {
        run(
            Mapping.databaseOf(namespace),
            known,
            ErrorCodes.NAMESPACE_NOT_FOUND,
            ErrorCodes.COLLECTION_UUID_MISMATCH);
        return;
      } catch (MongoCommandException refused) {
        if (!destination.isUuidRefused(refused.getResponse())) {
          throw refused;
        }
      }
    }
    run(Mapping.databaseOf(namespace), drop, ErrorCodes.NAMESPACE_NOT_FOUND);
  }

  /**
   * Creates an empty collection or a view.
   *
   * @param points shard keys in order, at which the collection is split. Between two neighbouring
   *     keys there is about the same number of documents. The list is empty if such keys are
   *     unknown
   */
  public void create(CollectionSpec spec, List<BsonDocument> points) throws InterruptedException {
    BsonDocument create = command("create", spec);
    create.putAll(spec.options());
    List.of(EXPIRES, "autoIndexId").forEach(create::remove);
    if (spec.kind() == Kind.VIEW) {
      create.put("viewOn", new BsonString(viewed(spec)));
    }
    run(databaseOf(spec), create, ErrorCodes.NAMESPACE_EXISTS);
    Sharding sharding = spec.sharding();
    if (sharding != null && destination.isSharded()) {
      shard(spec, sharding, points);
    }
  }

  private static String databaseOf(CollectionSpec spec) {
    return Mapping.databaseOf(spec.destination());
  }

  private static BsonDocument command(String name, CollectionSpec spec) {
    return new BsonDocument(name, new BsonString(Mapping.collectionOf(spec.destination())));
  }

  private String viewed(CollectionSpec view) {
    String on = view.options().getString("viewOn").getValue();
    String there = mapping.destination(Mapping.databaseOf(view.namespace()) + "." + on);
    if (there == null) {
      // The collection or view that this view reads is not copied, so it keeps its name in the
      // view.
      notes.accept(view.destination() + " is a view of " + on + ", which is not copied");
      return on;
    }
    if (!Mapping.databaseOf(there).equals(databaseOf(view))) {
      throw new CopyException(
          "%s is a view of %s, and both must be in the same database"
              .formatted(view.destination(), there),
          null);
    }
    return Mapping.collectionOf(there);
  }

  private void shard(CollectionSpec spec, Sharding sharding, List<BsonDocument> points)
      throws InterruptedException {
    // The index that supports the shard key is built first. Otherwise the server would create an
    // index of the shard key alone.
    List<BsonDocument> supporting =
        spec.indexes().stream().filter(index -> supports(index, sharding.key())).limit(1).toList();
    build(spec, supporting);
    if (spec.kind() == Kind.COLLECTION) {
      layout.addZones(spec.destination(), sharding.zones());
    } else if (!sharding.zones().isEmpty()) {
      notes.accept("zones of the time series " + spec.namespace() + " are not copied");
    }
    BsonDocument shard =
        new BsonDocument("shardCollection", new BsonString(spec.destination()))
            .append("key", sharding.key())
            .append("unique", BsonBoolean.valueOf(sharding.unique()));
    if (spec.collation() != null) {
      shard.append("collation", CollectionSpec.SIMPLE);
    }
    if (spec.kind() == Kind.TIME_SERIES) {
      shard.append("timeseries", spec.options().getDocument("timeseries"));
    }
    // Servers before 6.0 require this command. It has no effect on later servers.
    destination.runPersistently(
        "admin", new BsonDocument("enableSharding", new BsonString(databaseOf(spec))));
    destination.runPersistently("admin", shard);
    if (spec.kind() == Kind.COLLECTION && !sharding.isSplitByServers()) {
      layout.split(spec.destination(), points);
    }
  }

  /**
   * Whether an index supports a shard key, so that servers accept the key and can read ranges of
   * it.
   */
  public static boolean supports(BsonDocument index, BsonDocument key) {
    List<ByteBuffer> fields = fields(index.getDocument("key"));
    List<ByteBuffer> wanted = fields(key);
    return fields.size() >= wanted.size()
        && fields.subList(0, wanted.size()).equals(wanted)
        && !index.getBoolean("sparse", BsonBoolean.FALSE).getValue()
        && !index.containsKey("partialFilterExpression")
        && CollectionSpec.isSimple(index.get("collation"));
  }

  /** The fields of an index key in order. Equal numbers of different types are equal here. */
  static List<ByteBuffer> fields(BsonDocument pattern) {
    return pattern.entrySet().stream()
        .map(field -> new BsonDocument(field.getKey(), field.getValue()))
        .map(field -> ByteBuffer.wrap(SortableKey.encode(field)))
        .toList();
  }

  /** Builds the indexes that may exist while documents are inserted and changed. */
  public void buildIndexes(CollectionSpec spec) throws InterruptedException {
    build(
        spec, spec.indexes().stream().filter(Predicate.not(DestinationStructure::isLate)).toList());
  }

  /**
   * Builds unique and expiring indexes and sets the expiry of documents. Called when the
   * destination equals the source.
   */
  public void finish(CollectionSpec spec) throws InterruptedException {
    Map<String, BsonDocument> there = new HashMap<>();
    for (BsonDocument index :
        destination.all(
            destination.collection(spec.destination()).listIndexes(BsonDocument.class))) {
      there.put(nameOf(index), index);
    }
    // Indexes that are still missing are built, too: change streams of 6.0 do not report the index
    // that a server creates for a new shard key.
    List<BsonDocument> wanted =
        spec.indexes().stream()
            .filter(index -> isLate(index) || !there.containsKey(nameOf(index)))
            .toList();
    for (BsonDocument index : wanted) {
      BsonDocument present = there.get(nameOf(index));
      // The index may exist already, for example in a copy back.
      if (present != null
          && index.containsKey(EXPIRES)
          && !index.get(EXPIRES).equals(present.get(EXPIRES))) {
        BsonDocument changed = new BsonDocument("name", index.get("name"));
        alter(spec, "index", changed.append(EXPIRES, index.get(EXPIRES)));
      }
    }
    build(spec, wanted);
    BsonValue expires = spec.options().get(EXPIRES);
    if (expires != null) {
      alter(spec, EXPIRES, expires);
    }
  }

  private void alter(CollectionSpec spec, String option, BsonValue value)
      throws InterruptedException {
    destination.runPersistently(databaseOf(spec), command("collMod", spec).append(option, value));
  }

  private static String nameOf(BsonDocument index) {
    return index.getString("name").getValue();
  }

  /** Whether an index is built when the copy is finished. */
  public static boolean isLate(BsonDocument index) {
    return index.getBoolean("unique", BsonBoolean.FALSE).getValue() || index.containsKey(EXPIRES);
  }

  private void build(CollectionSpec spec, List<BsonDocument> indexes) throws InterruptedException {
    if (indexes.isEmpty()) {
      return;
    }
    BsonDocument create =
        command("createIndexes", spec)
            .append(
                "indexes",
                new BsonArray(indexes.stream().map(DestinationStructure::toCreate).toList()));
    try {
      destination.runPersistently(databaseOf(spec), create);
    } catch (MongoCommandException refused) {
      throw new CopyException(
          "indexes of %s can't be built: %s".formatted(spec.destination(), Waits.reason(refused)),
          refused);
    }
  }

  /**
   * The specification with which an index is created. If the source reports no collation, the
   * specification names the simple collation. Otherwise the new index would get the collection's
   * collation.
   */
  public static BsonDocument toCreate(BsonDocument index) {
    // Indexes of earlier index versions have no collation, and servers refuse a collation for them.
    if (index.containsKey("collation")
        || index.getNumber("v", new BsonInt32(COLLATED_VERSION)).intValue() < COLLATED_VERSION) {
      return index;
    }
    BsonDocument explicit = new BsonDocument();
    explicit.putAll(index);
    return explicit.append("collation", CollectionSpec.SIMPLE);
  }

  private void run(String database, BsonDocument command, Integer... ignored)
      throws InterruptedException {
    try {
      destination.runPersistently(database, command);
    } catch (MongoCommandException refused) {
      if (!List.of(ignored).contains(refused.getErrorCode())) {
        throw refused;
      }
    }
  }
}
