package dev.onehop.copy.internal.structure;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.structure.CollectionSpec.Kind;
import dev.onehop.copy.internal.structure.CollectionSpec.Sharding;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** Reads the structure of a cluster: collections, views, their indexes, shard keys and zones. */
public final class StructureReader {
  private static final Map<String, Kind> KINDS =
      Map.of("view", Kind.VIEW, "timeseries", Kind.TIME_SERIES);

  private final ClusterEnd cluster;
  private final Predicate<String> databases;
  private final Function<String, @Nullable String> destinations;

  /**
   * @param databases whether a database is read
   * @param destinations maps the name of a collection to {@link CollectionSpec#destination}; null
   *     if the collection is left out
   */
  public StructureReader(
      ClusterEnd cluster,
      Predicate<String> databases,
      Function<String, @Nullable String> destinations) {
    this.cluster = cluster;
    this.databases = databases;
    this.destinations = destinations;
  }

  /** The names of the databases that are read. */
  Set<String> databases() throws InterruptedException {
    Set<String> names = new TreeSet<>();
    for (BsonDocument database :
        cluster.all(cluster.client().listDatabases(BsonDocument.class).nameOnly(true))) {
      String name = database.getString("name").getValue();
      if (databases.test(name)) {
        names.add(name);
      }
    }
    return names;
  }

  /** The collections and views, with all indexes. */
  public List<CollectionSpec> read() throws InterruptedException {
    Map<String, BsonDocument> sharded = new HashMap<>();
    Map<String, List<BsonDocument>> zones = new HashMap<>();
    if (cluster.isSharded()) {
      for (BsonDocument zone : cluster.metadata("tags", new BsonDocument())) {
        zones.computeIfAbsent(zone.getString("ns").getValue(), ns -> new ArrayList<>()).add(zone);
      }
      for (BsonDocument entry : cluster.metadata("collections", new BsonDocument())) {
        // From 8.0 on, config.collections also has entries of unsharded collections, which are left
        // out here.
        if (!isTrue(entry, "dropped") && !isTrue(entry, "unsplittable")) {
          sharded.put(entry.getString("_id").getValue(), entry);
        }
      }
    }
    List<CollectionSpec> specs = new ArrayList<>();
    for (String database : databases()) {
      List<BsonDocument> all =
          cluster.all(cluster.database(database).listCollections(BsonDocument.class));
      Map<String, BsonBinary> uuids = new HashMap<>();
      for (BsonDocument listed : all) {
        if (listed.getDocument("info", new BsonDocument()).get("uuid") instanceof BsonBinary uuid) {
          uuids.put(database + "." + listed.getString("name").getValue(), uuid);
        }
      }
      for (BsonDocument listed : all) {
        String namespace = database + "." + listed.getString("name").getValue();
        String destination = destinations.apply(namespace);
        if (destination != null) {
          Kind kind =
              KINDS.getOrDefault(
                  listed.getString("type", new BsonString("")).getValue(), Kind.COLLECTION);
          String stored = CollectionSpec.stored(namespace, kind);
          specs.add(
              new CollectionSpec(
                  namespace,
                  destination,
                  kind,
                  uuids.get(stored),
                  listed.getDocument("options", new BsonDocument()),
                  kind == Kind.VIEW ? List.of() : indexes(namespace),
                  sharding(sharded.get(stored), zones.getOrDefault(stored, List.of()))));
        }
      }
    }
    return specs;
  }

  private List<BsonDocument> indexes(String namespace) throws InterruptedException {
    List<BsonDocument> indexes =
        cluster.all(cluster.collection(namespace).listIndexes(BsonDocument.class));
    // Old servers also report the namespace of an index. It is removed, because it is not a
    // property of the index.
    indexes.forEach(index -> index.remove("ns"));
    return indexes;
  }

  private static @Nullable Sharding sharding(
      @Nullable BsonDocument entry, List<BsonDocument> zones) {
    if (entry == null) {
      return null;
    }
    BsonDocument key = entry.getDocument("key");
    return new Sharding(
        entry.containsKey("timeseriesFields")
            ? ofSeries(key, entry.getDocument("timeseriesFields"))
            : key,
        isTrue(entry, "unique"),
        zones);
  }

  private static boolean isTrue(BsonDocument entry, String flag) {
    return entry.getBoolean(flag, BsonBoolean.FALSE).getValue();
  }

  /** Translates the shard key of a bucket collection to the fields of the measurements. */
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
