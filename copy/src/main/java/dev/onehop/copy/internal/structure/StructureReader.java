package dev.onehop.copy.internal.structure;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.structure.CollectionSpec.Kind;
import dev.onehop.copy.internal.structure.CollectionSpec.Sharding;
import dev.onehop.copy.progress.CopyException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Reads the structure of a cluster: the collections and views that a mapping includes, their
 * indexes, shard keys and zones.
 *
 * @param notes called with a text for each system collection that is left out, with the reason
 */
public record StructureReader(ClusterEnd cluster, Mapping mapping, Consumer<String> notes) {
  private static final Map<String, Kind> KINDS =
      Map.of("view", Kind.VIEW, "timeseries", Kind.TIME_SERIES);

  // System collections that are left out without a note to the user, because only servers write to
  // them.
  private static final Set<String> KNOWN_SYSTEM = Set.of("system.views", "system.profile");

  /** The databases that may have collections that the mapping includes. */
  public Set<String> databases() throws InterruptedException {
    return databases(cluster, mapping::concerns);
  }

  private static Set<String> databases(ClusterEnd cluster, Predicate<String> wanted)
      throws InterruptedException {
    Set<String> names = new TreeSet<>();
    for (BsonDocument database :
        cluster.all(cluster.client().listDatabases(BsonDocument.class).nameOnly(true))) {
      names.add(database.getString("name").getValue());
    }
    names.removeIf(wanted.negate());
    return names;
  }

  /**
   * The replies to {@code listCollections} by the names of the collections and views, in the order
   * of the databases.
   *
   * @param databases whether a database is read
   */
  public static Map<String, BsonDocument> list(ClusterEnd cluster, Predicate<String> databases)
      throws InterruptedException {
    Map<String, BsonDocument> listed = new LinkedHashMap<>();
    for (String database : databases(cluster, databases)) {
      for (BsonDocument collection :
          cluster.all(cluster.database(database).listCollections(BsonDocument.class))) {
        listed.put(database + "." + collection.getString("name").getValue(), collection);
      }
    }
    return listed;
  }

  /**
   * The collections to copy, views last. Indexes that a server creates with each collection are
   * left out.
   *
   * @throws CopyException if two collections would get the same name at the destination
   */
  public List<CollectionSpec> toCopy() throws InterruptedException {
    List<CollectionSpec> specs = new ArrayList<>();
    Map<String, String> taken = new HashMap<>();
    for (CollectionSpec spec : read()) {
      specs.add(
          spec.withIndexes(
              spec.indexes().stream().filter(StructureReader::isToBeCreated).toList()));
      String other = taken.put(spec.destination(), spec.namespace());
      if (other != null) {
        throw new CopyException(
            "%s and %s both become %s".formatted(other, spec.namespace(), spec.destination()),
            null);
      }
    }
    specs.sort(Comparator.comparing(spec -> spec.kind() == Kind.VIEW));
    return specs;
  }

  private static boolean isToBeCreated(BsonDocument index) {
    return !index.getString("name").getValue().equals("_id_") && !isTrue(index, "clustered");
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
    Map<String, BsonDocument> listed = list(cluster, mapping::concerns);
    for (Map.Entry<String, BsonDocument> each : listed.entrySet()) {
      String namespace = each.getKey();
      String destination = destination(namespace);
      if (destination != null) {
        BsonDocument collection = each.getValue();
        Kind kind =
            KINDS.getOrDefault(
                collection.getString("type", new BsonString("")).getValue(), Kind.COLLECTION);
        String stored = CollectionSpec.stored(namespace, kind);
        specs.add(
            new CollectionSpec(
                namespace,
                destination,
                kind,
                uuid(listed.get(stored)),
                collection.getDocument("options", new BsonDocument()),
                kind == Kind.VIEW ? List.of() : indexes(namespace),
                sharding(sharded.get(stored), zones.getOrDefault(stored, List.of()))));
      }
    }
    return specs;
  }

  private @Nullable String destination(String namespace) {
    String name = Mapping.collectionOf(namespace);
    if (!name.startsWith("system.")) {
      return mapping.destination(namespace);
    }
    // Buckets are read with their time series.
    if (!name.startsWith("system.buckets.") && !KNOWN_SYSTEM.contains(name)) {
      notes.accept(namespace + " is not copied, because no change stream has its changes");
    }
    return null;
  }

  private static @Nullable BsonBinary uuid(@Nullable BsonDocument listed) {
    return listed != null
            && listed.getDocument("info", new BsonDocument()).get("uuid") instanceof BsonBinary uuid
        ? uuid
        : null;
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
