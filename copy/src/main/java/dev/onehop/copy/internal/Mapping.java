package dev.onehop.copy.internal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;

/**
 * Decides which collections and documents of the source are copied, and to which collections of the
 * destination.
 *
 * <p>Names of collections are {@code database.collection}. The bucket collection of a time series
 * is mapped like the time series: {@code d.system.buckets.c} as {@code d.c}.
 *
 * <p>Immutable. Thread-safe if the transformation is thread-safe.
 *
 * @param included patterns of the collections to copy, each {@code database} or {@code
 *     database.collection}, where {@code *} matches any characters of the one name. If the list is
 *     empty, all collections are copied
 * @param excluded patterns of collections that are not copied, even if they are included
 * @param renamed new names, from {@code database} to {@code database}, or from {@code
 *     database.collection} to {@code database.collection}. The new name of a collection has
 *     precedence over the new name of its database
 * @param filters query filters of the documents to copy, by collection of the source. With a
 *     filter, updates are applied as whole documents, because an update may change whether the
 *     document matches, and the event does not show this
 * @param transformation called with a collection of the source and one of its documents. The
 *     parameter is null if documents stay unchanged. The function returns the document to write, or
 *     null if the document is left out. It does not change {@code _id} or the fields of the shard
 *     key, and has the same result for the same document. With a transformation, updates are
 *     applied as whole documents
 * @param inverse whether this mapping maps names of the destination back to names of the source.
 *     The other components then describe the mapping from the source to the destination
 */
public record Mapping(
    List<String> included,
    List<String> excluded,
    Map<String, String> renamed,
    Map<String, BsonDocument> filters,
    @Nullable BiFunction<String, RawBsonDocument, @Nullable BsonDocument> transformation,
    boolean inverse) {
  /** The database with the state of copies. It is never copied. */
  public static final String STATE_DATABASE = "onehop_copy";

  private static final Pattern NO_DATABASE = Pattern.compile("[/\\\\ \"$\\x00]");
  private static final Pattern NO_COLLECTION = Pattern.compile("[$\\x00]");
  private static final int LONGEST_DATABASE = 63;
  private static final int LONGEST_NAME = 255;
  private static final String BUCKETS = "system.buckets.";
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();
  private static final Set<String> NEVER_COPIED =
      Set.of("admin", "config", "local", STATE_DATABASE);

  /** Copies all collections, each with its name at the source. */
  public static final Mapping ALL = new Mapping(List.of(), List.of(), Map.of(), Map.of(), null);

  /**
   * Stores copies of the lists and maps.
   *
   * @throws IllegalArgumentException if a pattern or a name is malformed, if a filter is for a
   *     pattern and not for one collection, or if two collections or databases get the same name
   */
  public Mapping {
    included = List.copyOf(included);
    excluded = List.copyOf(excluded);
    renamed = Map.copyOf(renamed);
    filters = Map.copyOf(filters);
    included.forEach(Mapping::checkPattern);
    excluded.forEach(Mapping::checkPattern);
    renamed.forEach(Mapping::checkRename);
    filters.keySet().forEach(Mapping::checkCollection);
    Map<String, String> taken = new HashMap<>();
    renamed.forEach(
        (from, to) -> {
          String other = taken.put(to, from);
          if (other != null) {
            throw new IllegalArgumentException(from + " and " + other + " both become " + to);
          }
        });
  }

  /** Creates a mapping from the source to the destination. */
  public Mapping(
      List<String> included,
      List<String> excluded,
      Map<String, String> renamed,
      Map<String, BsonDocument> filters,
      @Nullable BiFunction<String, RawBsonDocument, @Nullable BsonDocument> transformation) {
    this(included, excluded, renamed, filters, transformation, false);
  }

  /**
   * The mapping in the other direction. If several collections map to the same name, this name maps
   * back to a collection that is listed in {@link #renamed}.
   */
  public Mapping inverted() {
    return new Mapping(included, excluded, renamed, filters, transformation, !inverse);
  }

  private static void checkPattern(String pattern) {
    if (pattern.isEmpty() || pattern.startsWith(".") || pattern.endsWith(".")) {
      throw new IllegalArgumentException(
          "'" + pattern + "' is neither a database nor database.collection");
    }
  }

  private static void checkCollection(String namespace) {
    checkPattern(namespace);
    if (namespace.indexOf('.') < 0 || namespace.contains("*")) {
      throw new IllegalArgumentException("'" + namespace + "' is not database.collection");
    }
  }

  private static void checkRename(String from, String to) {
    checkPattern(from);
    checkPattern(to);
    if (from.contains("*") || to.contains("*") || from.contains(".") != to.contains(".")) {
      throw new IllegalArgumentException(
          "'%s' can't become '%s': both must be a database, or both database.collection"
              .formatted(from, to));
    }
    if (neverCopies(databaseOf(to))) {
      throw new IllegalArgumentException(
          "'" + to + "' is reserved for the servers or for the state of copies");
    }
    String database = databaseOf(to);
    String collection = collectionOf(to);
    if (NO_DATABASE.matcher(database).find()
        || collection.startsWith("system.")
        || NO_COLLECTION.matcher(collection).find()
        || to.getBytes(StandardCharsets.UTF_8).length > LONGEST_NAME
        || database.getBytes(StandardCharsets.UTF_8).length > LONGEST_DATABASE) {
      throw new IllegalArgumentException("servers do not accept the name '" + to + "'");
    }
  }

  /**
   * The name of a collection at the destination.
   *
   * @param namespace the name of the collection at the source
   * @return the name; null if the collection is not copied. Collections of {@code admin}, {@code
   *     config}, {@code local} and {@value #STATE_DATABASE} are never copied, and of the system
   *     collections only buckets are copied
   */
  public @Nullable String destination(String namespace) {
    String collection = collectionOf(namespace);
    if (collection.startsWith(BUCKETS)) {
      String series =
          destination(databaseOf(namespace) + "." + collection.substring(BUCKETS.length()));
      return series == null ? null : buckets(series);
    }
    return inverse ? origin(namespace) : forward(namespace);
  }

  private @Nullable String forward(String namespace) {
    String database = databaseOf(namespace);
    String collection = collectionOf(namespace);
    if (neverCopies(database)
        || collection.isEmpty()
        || collection.startsWith("system.")
        || !matches(namespace)) {
      return null;
    }
    String own = renamed.get(namespace);
    return own != null ? own : renamed.getOrDefault(database, database) + "." + collection;
  }

  /**
   * The collection that maps to this name; null if there is none. A collection with a new name has
   * precedence over a collection that keeps this name.
   */
  private @Nullable String origin(String namespace) {
    String database = databaseOf(namespace);
    List<String> candidates = new ArrayList<>();
    renamed.forEach(
        (from, to) -> {
          if (to.equals(namespace)) {
            candidates.add(0, from);
          } else if (to.equals(database)) {
            candidates.add(from + namespace.substring(database.length()));
          }
        });
    candidates.add(namespace);
    return candidates.stream()
        .filter(each -> namespace.equals(forward(each)))
        .findFirst()
        .orElse(null);
  }

  /** The databases to which collections of a database may map. */
  public Set<String> databases(String database) {
    if (inverse) {
      return origins(database);
    }
    Stream<String> ofCollections =
        renamed.entrySet().stream()
            .filter(name -> name.getKey().startsWith(database + "."))
            .map(name -> databaseOf(name.getValue()));
    return Stream.concat(Stream.of(renamed.getOrDefault(database, database)), ofCollections)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The databases whose collections may map to a database. */
  private Set<String> origins(String database) {
    Stream<String> own = renamed.containsKey(database) ? Stream.empty() : Stream.of(database);
    Stream<String> others =
        renamed.entrySet().stream()
            .filter(name -> databaseOf(name.getValue()).equals(database))
            .map(name -> databaseOf(name.getKey()));
    return Stream.concat(own, others)
        .filter(this::concernsForward)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Whether a database may have collections that are copied. If it can have none, the drop of the
   * database is not applied.
   */
  public boolean concerns(String database) {
    return inverse ? !origins(database).isEmpty() : concernsForward(database);
  }

  /**
   * Whether a database is never copied, because it belongs to the servers or has the state of
   * copies.
   */
  public static boolean neverCopies(String database) {
    return NEVER_COPIED.contains(database);
  }

  private boolean concernsForward(String database) {
    return !neverCopies(database)
        && excluded.stream().noneMatch(pattern -> !pattern.contains(".") && fits(pattern, database))
        && (included.isEmpty()
            || included.stream().anyMatch(pattern -> fits(databaseOf(pattern), database)));
  }

  /**
   * Whether the collections of a database may map to several databases, or whether only some of the
   * collections are copied.
   */
  public boolean splits(String database) {
    Set<String> origins = inverse ? origins(database) : Set.of(database);
    return origins.size() != 1
        || (inverse && renamed.values().stream().anyMatch(to -> to.startsWith(database + ".")))
        || splitsForward(origins.iterator().next());
  }

  private boolean splitsForward(String database) {
    return (!included.isEmpty() && included.stream().noneMatch(pattern -> fits(pattern, database)))
        || excluded.stream()
            .anyMatch(pattern -> pattern.contains(".") && fits(databaseOf(pattern), database))
        || renamed.keySet().stream().anyMatch(name -> name.startsWith(database + "."));
  }

  private boolean matches(String namespace) {
    return (included.isEmpty() || included.stream().anyMatch(pattern -> of(pattern, namespace)))
        && excluded.stream().noneMatch(pattern -> of(pattern, namespace));
  }

  /** The included patterns that match none of these collections of the source. */
  public List<String> unused(Collection<String> namespaces) {
    return included.stream()
        .filter(pattern -> namespaces.stream().noneMatch(name -> of(pattern, name)))
        .toList();
  }

  private static boolean of(String pattern, String namespace) {
    return fits(databaseOf(pattern), databaseOf(namespace))
        && (!pattern.contains(".") || fits(collectionOf(pattern), collectionOf(namespace)));
  }

  private static boolean fits(String pattern, String name) {
    String regex =
        Stream.of(pattern.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
    return Pattern.compile(regex, Pattern.DOTALL).matcher(name).matches();
  }

  /** The filter of a collection of the source; null if all its documents are copied. */
  public @Nullable BsonDocument filter(String namespace) {
    return filters.get(namespace);
  }

  /**
   * Whether an update requires a read of the whole document, because of a filter or the
   * transformation.
   */
  public boolean needsWholeDocuments(String namespace) {
    return transformation != null || filters.containsKey(namespace);
  }

  /**
   * The document to write for a document of the source.
   *
   * @return the document; null if it is left out
   * @throws IllegalArgumentException if the transformation changes the {@code _id}
   */
  public @Nullable RawBsonDocument transformed(String namespace, RawBsonDocument document) {
    if (transformation == null) {
      return document;
    }
    BsonDocument changed = transformation.apply(namespace, document);
    if (changed != null && !Objects.equals(changed.get("_id"), document.get("_id"))) {
      // Later events have the original _id and would not find the document.
      throw new IllegalArgumentException(
          "the transformation of %s does not keep the _id".formatted(namespace));
    }
    return changed == null || changed instanceof RawBsonDocument
        ? (RawBsonDocument) changed
        : new RawBsonDocument(changed, CODEC);
  }

  /** The transformed documents of a collection, without the documents that are not copied. */
  public List<RawBsonDocument> transformed(String namespace, List<RawBsonDocument> documents) {
    return transformation == null
        ? documents
        : documents.stream()
            .flatMap(document -> Stream.ofNullable(transformed(namespace, document)))
            .toList();
  }

  /** The bucket collection of a time series. */
  public static String buckets(String namespace) {
    return databaseOf(namespace) + "." + BUCKETS + collectionOf(namespace);
  }

  /** The database of a name, which is {@code database} or {@code database.collection}. */
  public static String databaseOf(String namespace) {
    int dot = namespace.indexOf('.');
    return dot < 0 ? namespace : namespace.substring(0, dot);
  }

  /** The name of a collection without its database; empty for the name of a database. */
  public static String collectionOf(String namespace) {
    return namespace.substring(Math.min(databaseOf(namespace).length() + 1, namespace.length()));
  }
}
