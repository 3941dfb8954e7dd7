package dev.onehop.it.unified;

import com.mongodb.CursorType;
import com.mongodb.ReadConcern;
import com.mongodb.ReadConcernLevel;
import com.mongodb.ReadPreference;
import com.mongodb.Tag;
import com.mongodb.TagSet;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.cursor.TimeoutMode;
import com.mongodb.client.model.ChangeStreamPreAndPostImagesOptions;
import com.mongodb.client.model.ClusteredIndexOptions;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.TimeSeriesGranularity;
import com.mongodb.client.model.TimeSeriesOptions;
import com.mongodb.client.model.ValidationOptions;
import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.client.model.changestream.FullDocumentBeforeChange;
import dev.onehop.routing.clients.DriverCannot;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of one operation. The driver's options are set by reflection, because most have the
 * same names as in the specification. An argument that is never used is an error.
 */
final class Arguments {
  /** The names in the specification, and the different names in the driver. */
  private static final Map<String, String> NAMES =
      Map.of(
          "size", "sizeInBytes",
          "max", "maxDocuments",
          "expireAfterSeconds", "expireAfter",
          "timeseries", "timeSeriesOptions",
          "clusteredIndex", "clusteredIndexOptions",
          "changeStreamPreAndPostImages", "changeStreamPreAndPostImagesOptions");

  private final BsonDocument given;
  private final Set<String> used = new TreeSet<>();

  Arguments(BsonDocument given) {
    this.given = given;
  }

  @Nullable BsonValue optional(String name) {
    used.add(name);
    return given.get(name);
  }

  BsonValue value(String name) {
    BsonValue value = optional(name);
    if (value == null) {
      throw new AssertionError("no argument " + name + " in " + given);
    }
    return value;
  }

  BsonDocument document(String name) {
    return value(name).asDocument();
  }

  String string(String name) {
    return value(name).asString().getValue();
  }

  int number(String name) {
    return value(name).asNumber().intValue();
  }

  boolean has(String name) {
    return given.containsKey(name);
  }

  List<BsonDocument> documents(String name) {
    return value(name).asArray().stream().map(BsonValue::asDocument).toList();
  }

  /** The value of an argument that is an update: a document or a pipeline. */
  Object update(String name) {
    BsonValue value = value(name);
    return value.isArray() ? documents(name) : value.asDocument();
  }

  /** Sets all arguments that were not used before as options. */
  <T> T on(T options) {
    T target = options;
    for (String name : given.keySet()) {
      if (used.add(name)) {
        target = set(target, name, given.get(name));
      }
    }
    return target;
  }

  /** Fails if an argument was not used. */
  void done() {
    Set<String> left = new TreeSet<>(given.keySet());
    left.removeAll(used);
    if (!left.isEmpty()) {
      throw new AssertionError("arguments that the runner does not know: " + left);
    }
  }

  @SuppressWarnings("unchecked")
  private static <T> T set(T options, String name, BsonValue value) {
    String wanted = NAMES.getOrDefault(name, name);
    if (name.equals("max")
        && !options.getClass().getSimpleName().equals("CreateCollectionOptions")) {
      wanted = name;
    }
    if (wanted.equals("hint") && value.isString()) {
      wanted = "hintString";
    }
    boolean isTime = wanted.endsWith("MS") || wanted.equals("expireAfter");
    if (isTime) {
      wanted = wanted.replace("MS", "");
    }
    for (Method method : methods(options)) {
      Class<?>[] types = method.getParameterTypes();
      boolean fits =
          method.getName().equals(wanted)
              && (isTime
                  ? types.length == 2 && types[1] == TimeUnit.class
                  : types.length == 1 && !(types[0] == String.class && name.equals("comment")));
      if (fits) {
        try {
          method.setAccessible(true);
          Object result =
              isTime
                  ? method.invoke(
                      options,
                      value.asNumber().longValue(),
                      name.endsWith("MS") ? TimeUnit.MILLISECONDS : TimeUnit.SECONDS)
                  : method.invoke(options, converted(value, types[0]));
          return result == null ? options : (T) result;
        } catch (InvocationTargetException e) {
          if (e.getCause() instanceof RuntimeException cause) {
            throw cause;
          }
          throw new AssertionError(e);
        } catch (IllegalAccessException e) {
          throw new AssertionError(e);
        }
      }
    }
    throw new DriverCannot(
        "the driver has no option " + name + " in " + options.getClass().getSimpleName());
  }

  /**
   * The methods of an object's options. Those of the public interfaces come first, because the
   * driver's implementing classes are internal.
   */
  private static List<Method> methods(Object options) {
    return Stream.concat(
            Stream.of(options.getClass().getInterfaces())
                .flatMap(each -> Stream.of(each.getMethods())),
            Stream.of(options.getClass().getMethods()))
        .filter(method -> !method.isBridge())
        .sorted(Comparator.comparing((Method method) -> method.getParameterCount()))
        .toList();
  }

  private static Object converted(BsonValue value, Class<?> type) {
    if (type == boolean.class || type == Boolean.class) {
      return value.asBoolean().getValue();
    }
    if (type == int.class || type == Integer.class) {
      return value.asNumber().intValue();
    }
    if (type == long.class || type == Long.class) {
      return value.asNumber().longValue();
    }
    if (type == String.class) {
      return value.asString().getValue();
    }
    if (List.class.isAssignableFrom(type)) {
      return value.asArray().stream().map(BsonValue::asDocument).toList();
    }
    if (type == Collation.class) {
      return new Arguments(value.asDocument()).collation();
    }
    if (type == ReturnDocument.class) {
      return ReturnDocument.valueOf(value.asString().getValue().toUpperCase(Locale.ROOT));
    }
    if (type == CursorType.class) {
      return switch (value.asString().getValue()) {
        case "tailable" -> CursorType.Tailable;
        case "tailableAwait" -> CursorType.TailableAwait;
        default -> CursorType.NonTailable;
      };
    }
    if (type == TimeoutMode.class) {
      return value.asString().getValue().equals("iteration")
          ? TimeoutMode.ITERATION
          : TimeoutMode.CURSOR_LIFETIME;
    }
    if (type == FullDocument.class) {
      return FullDocument.fromString(value.asString().getValue());
    }
    if (type == FullDocumentBeforeChange.class) {
      return FullDocumentBeforeChange.fromString(value.asString().getValue());
    }
    if (type == TimeSeriesOptions.class) {
      BsonDocument document = value.asDocument().clone();
      String timeField = document.remove("timeField").asString().getValue();
      return new Arguments(document).on(new TimeSeriesOptions(timeField));
    }
    if (type == TimeSeriesGranularity.class) {
      return TimeSeriesGranularity.valueOf(value.asString().getValue().toUpperCase(Locale.ROOT));
    }
    if (type == ClusteredIndexOptions.class) {
      Arguments index = new Arguments(value.asDocument());
      return index.on(
          new ClusteredIndexOptions(
              index.document("key"), index.value("unique").asBoolean().getValue()));
    }
    if (type == ChangeStreamPreAndPostImagesOptions.class) {
      return new ChangeStreamPreAndPostImagesOptions(
          value.asDocument().getBoolean("enabled").getValue());
    }
    if (type == ValidationOptions.class) {
      return new ValidationOptions().validator(value.asDocument());
    }
    if (type == ReadConcern.class) {
      return readConcern(value.asDocument());
    }
    if (type == WriteConcern.class) {
      return writeConcern(value.asDocument());
    }
    if (type == ReadPreference.class) {
      return readPreference(value.asDocument());
    }
    if (type == TransactionOptions.class) {
      return new Arguments(value.asDocument()).transaction();
    }
    if (type == Bson.class || type.isInstance(value)) {
      return value;
    }
    throw new AssertionError("the runner can't make a " + type + " of " + value);
  }

  private Collation collation() {
    return on(Collation.builder()).build();
  }

  TransactionOptions transaction() {
    @Nullable BsonValue timeout = optional("timeoutMS");
    TransactionOptions.Builder options = on(TransactionOptions.builder());
    if (timeout != null) {
      options.timeout(timeout.asNumber().longValue(), TimeUnit.MILLISECONDS);
    }
    return options.build();
  }

  static ReadConcern readConcern(BsonDocument document) {
    return document.containsKey("level")
        ? new ReadConcern(ReadConcernLevel.fromString(document.getString("level").getValue()))
        : ReadConcern.DEFAULT;
  }

  static WriteConcern writeConcern(BsonDocument document) {
    WriteConcern concern = WriteConcern.ACKNOWLEDGED;
    @Nullable BsonValue w = document.get("w");
    if (w != null) {
      concern =
          w.isString()
              ? new WriteConcern(w.asString().getValue())
              : new WriteConcern(w.asNumber().intValue());
    }
    if (document.containsKey("journal")) {
      concern = concern.withJournal(document.getBoolean("journal").getValue());
    }
    return document.containsKey("wtimeoutMS")
        ? concern.withWTimeout(document.getNumber("wtimeoutMS").longValue(), TimeUnit.MILLISECONDS)
        : concern;
  }

  static ReadPreference readPreference(BsonDocument document) {
    String mode = document.getString("mode", new BsonString("primary")).getValue();
    List<TagSet> tags = new ArrayList<>();
    if (document.containsKey("tagSets")) {
      for (BsonValue set : document.getArray("tagSets")) {
        Map<String, Tag> each = new LinkedHashMap<>();
        set.asDocument()
            .forEach((key, value) -> each.put(key, new Tag(key, value.asString().getValue())));
        tags.add(new TagSet(List.copyOf(each.values())));
      }
    }
    int staleness = document.getNumber("maxStalenessSeconds", new BsonInt32(-1)).intValue();
    if (mode.equals("primary")) {
      return ReadPreference.primary();
    }
    return staleness < 0
        ? ReadPreference.valueOf(mode, tags)
        : ReadPreference.valueOf(mode, tags, staleness, TimeUnit.SECONDS);
  }
}
