package dev.onehop.copy.verify;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.CollectionSpec.Kind;
import dev.onehop.copy.internal.structure.CollectionSpec.Sharding;
import dev.onehop.core.bson.SortableKey;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/** Compares collections without their documents: kinds, options, indexes and shard keys. */
final class MetadataComparison {
  private static final Set<String> READ_AS_NUMBERS =
      Set.of("key", "weights", "collation", "timeseries", "clusteredIndex");

  private final Mapping mapping;
  private final boolean shardKeys;
  private final List<MetadataDifference> differences = new ArrayList<>();
  private final List<CollectionPair> pairs = new ArrayList<>();

  /**
   * @param shardKeys whether shard keys are compared, because both clusters are sharded
   */
  MetadataComparison(Mapping mapping, boolean shardKeys) {
    this.mapping = mapping;
    this.shardKeys = shardKeys;
  }

  /**
   * Compares the collections of the two clusters.
   *
   * @param from the collections of the source that the mapping includes, by name
   * @param to the collections of the destination to which the mapping could map a collection of the
   *     source, by name
   */
  void compare(SortedMap<String, CollectionSpec> from, SortedMap<String, CollectionSpec> to) {
    Set<String> extra = new TreeSet<>(to.keySet());
    from.forEach(
        (namespace, info) -> {
          String target = Objects.requireNonNull(mapping.destination(namespace));
          extra.remove(target);
          CollectionSpec other = to.get(target);
          if (other == null) {
            add(namespace, type(info) + " missing at the destination");
          } else {
            compare(info, other);
          }
        });
    for (String namespace : extra) {
      add(namespace, type(Objects.requireNonNull(to.get(namespace))) + " missing at the source");
    }
  }

  /** The differences. */
  List<MetadataDifference> differences() {
    return differences;
  }

  /** The collections whose documents can be compared. */
  List<CollectionPair> pairs() {
    return pairs;
  }

  private void add(String namespace, String what) {
    differences.add(new MetadataDifference(namespace, what));
  }

  private void compare(CollectionSpec from, CollectionSpec to) {
    String namespace = from.namespace();
    if (from.kind() != to.kind()) {
      add(namespace, "a " + type(from) + " at the source, a " + type(to) + " at the destination");
      return;
    }
    for (String option : differing(mapped(from), to.options())) {
      add(namespace, "option " + option + " differs");
    }
    compareIndexes(namespace, byName(from), byName(to));
    if (shardKeys && !same(shardKey(from), shardKey(to))) {
      add(
          namespace,
          from.sharding() == null
              ? "sharded at the destination only"
              : to.sharding() == null ? "sharded at the source only" : "shard key differs");
    }
    if (from.kind() == Kind.VIEW) {
      return;
    }
    if (!CollectionPair.keyField(from).equals(CollectionPair.keyField(to))) {
      add(namespace, "the time field differs, so the documents are not compared");
      return;
    }
    pairs.add(new CollectionPair(from, to, mapping.filter(namespace)));
  }

  private static String type(CollectionSpec info) {
    return info.kind() == Kind.TIME_SERIES
        ? "timeseries"
        : info.kind().name().toLowerCase(Locale.ROOT);
  }

  private static BsonDocument shardKey(CollectionSpec info) {
    Sharding sharding = info.sharding();
    return sharding == null
        ? new BsonDocument()
        : new BsonDocument("key", sharding.key())
            .append("unique", BsonBoolean.valueOf(sharding.unique()));
  }

  /**
   * The options that the destination should have. They are the source's options, but a view names
   * its collection as at the destination.
   */
  private BsonDocument mapped(CollectionSpec info) {
    BsonDocument options = info.options();
    if (!options.isString("viewOn")) {
      return options;
    }
    String database = Mapping.databaseOf(info.namespace());
    String target = mapping.destination(database + "." + options.getString("viewOn").getValue());
    if (target == null) {
      return options;
    }
    BsonDocument mapped = options.clone();
    mapped.put("viewOn", new BsonString(Mapping.collectionOf(target)));
    return mapped;
  }

  private void compareIndexes(
      String namespace, Map<String, BsonDocument> from, Map<String, BsonDocument> to) {
    from.forEach(
        (name, index) -> {
          BsonDocument other = to.get(name);
          if (other == null) {
            add(namespace, "index " + name + " missing at the destination");
          } else {
            Set<String> options = differing(index, other);
            if (!options.isEmpty()) {
              add(namespace, "index " + name + " differs in " + String.join(", ", options));
            }
          }
        });
    for (String name : to.keySet()) {
      if (!from.containsKey(name)) {
        add(namespace, "index " + name + " missing at the source");
      }
    }
  }

  private static Map<String, BsonDocument> byName(CollectionSpec info) {
    Map<String, BsonDocument> byName = new TreeMap<>();
    for (BsonDocument index : info.indexes()) {
      byName.put(index.getString("name").getValue(), index);
    }
    return byName;
  }

  private static Set<String> differing(BsonDocument a, BsonDocument b) {
    Set<String> names = new TreeSet<>(a.keySet());
    names.addAll(b.keySet());
    names.removeIf(
        name -> {
          BsonValue one = a.get(name);
          BsonValue other = b.get(name);
          return one != null
              && other != null
              && (bytes(one).equals(bytes(other))
                  || (isReadAsNumbers(name, one) && same(one, other)));
        });
    return names;
  }

  /**
   * Whether servers accept a number of any type in this option and may store it as another type.
   */
  private static boolean isReadAsNumbers(String option, BsonValue value) {
    return value.isNumber() || READ_AS_NUMBERS.contains(option);
  }

  /** Compares values as servers do: 1 equals 1.0, and the order of fields counts. */
  private static boolean same(BsonValue a, BsonValue b) {
    return Arrays.equals(SortableKey.encode(a), SortableKey.encode(b));
  }

  private static ByteBuffer bytes(BsonValue value) {
    return new RawBsonDocument(new BsonDocument("", value), new BsonDocumentCodec())
        .getByteBuffer()
        .asNIO();
  }
}
