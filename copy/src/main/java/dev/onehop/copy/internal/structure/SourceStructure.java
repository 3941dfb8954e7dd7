package dev.onehop.copy.internal.structure;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.structure.CollectionSpec.Kind;
import dev.onehop.copy.internal.structure.CollectionSpec.Sharding;
import dev.onehop.copy.progress.CopyException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** Reads what is to be copied: collections, views, their indexes, shard keys and zones. */
public final class SourceStructure {
  private static final String BUCKETS = "system.buckets.";

  // Documents that only the servers themselves write, and that no change stream gives.
  private static final Set<String> KNOWN_SYSTEM = Set.of("system.views", "system.profile");

  private final ClusterEnd source;
  private final Mapping mapping;
  private final Consumer<String> notes;

  /**
   * @param notes gets what is not copied and why
   */
  public SourceStructure(ClusterEnd source, Mapping mapping, Consumer<String> notes) {
    this.source = source;
    this.mapping = mapping;
    this.notes = notes;
  }

  /** The databases that may have collections to copy. */
  public Set<String> databases() throws InterruptedException {
    Set<String> names = new TreeSet<>();
    for (BsonDocument database :
        source.all(source.client().listDatabases(BsonDocument.class).nameOnly(true))) {
      String name = database.getString("name").getValue();
      if (mapping.concerns(name)) {
        names.add(name);
      }
    }
    return names;
  }

  /**
   * What is to be copied, views last.
   *
   * @throws CopyException if two of them would get the same name
   */
  public List<CollectionSpec> read() throws InterruptedException {
    Map<String, Sharding> sharded = sharded();
    List<CollectionSpec> collections = new ArrayList<>();
    List<CollectionSpec> views = new ArrayList<>();
    for (String database : databases()) {
      List<BsonDocument> all =
          source.all(source.database(database).listCollections(BsonDocument.class));
      Map<String, BsonBinary> uuids = new HashMap<>();
      for (BsonDocument listed : all) {
        if (listed.getDocument("info", new BsonDocument()).get("uuid") instanceof BsonBinary uuid) {
          uuids.put(database + "." + listed.getString("name").getValue(), uuid);
        }
      }
      for (BsonDocument listed : all) {
        CollectionSpec spec = spec(database, listed, sharded, uuids);
        if (spec != null) {
          (spec.kind() == Kind.VIEW ? views : collections).add(spec);
        }
      }
    }
    collections.addAll(views);
    Map<String, String> taken = new HashMap<>();
    for (CollectionSpec spec : collections) {
      String other = taken.put(spec.destination(), spec.namespace());
      if (other != null) {
        throw new CopyException(
            "%s and %s both become %s".formatted(other, spec.namespace(), spec.destination()),
            null);
      }
    }
    return collections;
  }

  private @Nullable CollectionSpec spec(
      String database,
      BsonDocument listed,
      Map<String, Sharding> sharded,
      Map<String, BsonBinary> uuids)
      throws InterruptedException {
    String name = listed.getString("name").getValue();
    String namespace = database + "." + name;
    if (name.startsWith(BUCKETS)) {
      // With its time series.
      return null;
    }
    if (name.startsWith("system.")) {
      if (!KNOWN_SYSTEM.contains(name)) {
        notes.accept(namespace + " is not copied: its changes are in no change stream");
      }
      return null;
    }
    String destination = mapping.destination(namespace);
    if (destination == null) {
      return null;
    }
    Kind kind =
        switch (listed.getString("type", new BsonString("collection")).getValue()) {
          case "view" -> Kind.VIEW;
          case "timeseries" -> Kind.TIME_SERIES;
          default -> Kind.COLLECTION;
        };
    String stored = kind == Kind.TIME_SERIES ? Mapping.buckets(namespace) : namespace;
    return new CollectionSpec(
        namespace,
        destination,
        kind,
        uuids.get(stored),
        listed.getDocument("options", new BsonDocument()),
        kind == Kind.VIEW ? List.of() : indexes(database, name),
        sharded.get(stored));
  }

  private List<BsonDocument> indexes(String database, String collection)
      throws InterruptedException {
    List<BsonDocument> indexes = new ArrayList<>();
    for (BsonDocument index :
        source.all(
            source.database(database).getCollection(collection).listIndexes(BsonDocument.class))) {
      if (!index.getString("name").getValue().equals("_id_")
          && !index.getBoolean("clustered", BsonBoolean.FALSE).getValue()) {
        BsonDocument spec = index.clone();
        spec.remove("ns");
        indexes.add(spec);
      }
    }
    return indexes;
  }

  private Map<String, Sharding> sharded() throws InterruptedException {
    Map<String, Sharding> sharded = new HashMap<>();
    if (!source.isSharded()) {
      return sharded;
    }
    Map<String, List<BsonDocument>> zones = new HashMap<>();
    for (BsonDocument zone : source.metadata("tags", new BsonDocument())) {
      zones.computeIfAbsent(zone.getString("ns").getValue(), ns -> new ArrayList<>()).add(zone);
    }
    for (BsonDocument entry : source.metadata("collections", new BsonDocument())) {
      String namespace = entry.getString("_id").getValue();
      if (mapping.destination(namespace) == null
          || entry.getBoolean("dropped", BsonBoolean.FALSE).getValue()
          || entry.getBoolean("unsplittable", BsonBoolean.FALSE).getValue()) {
        continue;
      }
      BsonDocument key = entry.getDocument("key");
      sharded.put(
          namespace,
          new Sharding(
              entry.containsKey("timeseriesFields")
                  ? ofSeries(key, entry.getDocument("timeseriesFields"))
                  : key,
              entry.getBoolean("unique", BsonBoolean.FALSE).getValue(),
              zones.getOrDefault(namespace, List.of())));
    }
    return sharded;
  }

  /** A shard key of buckets as one of the measurements that are in them. */
  static BsonDocument ofSeries(BsonDocument key, BsonDocument fields) {
    String time = fields.getString("timeField").getValue();
    BsonValue meta = fields.get("metaField");
    BsonDocument own = new BsonDocument();
    key.forEach(
        (name, kind) -> {
          if (name.equals("control.min." + time)) {
            own.append(time, kind);
          } else if (meta != null && (name.equals("meta") || name.startsWith("meta."))) {
            own.append(meta.asString().getValue() + name.substring("meta".length()), kind);
          } else {
            own.append(name, kind);
          }
        });
    return own;
  }
}
