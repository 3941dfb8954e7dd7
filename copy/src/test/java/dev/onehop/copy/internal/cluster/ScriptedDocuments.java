package dev.onehop.copy.internal.cluster;

import dev.onehop.core.bson.SortableKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The documents of a scripted server. It supports only the commands and operators that a copy sends
 * for its state and its ranges. Not thread-safe.
 */
final class ScriptedDocuments {
  private final Map<String, List<BsonDocument>> collections = new TreeMap<>();
  private final Map<Long, List<BsonDocument>> cursors = new HashMap<>();
  private long nowMillis;
  private long lastCursor;

  /** The documents of a collection, in the order of insertion. */
  List<BsonDocument> of(String namespace) {
    return collections.computeIfAbsent(namespace, name -> new ArrayList<>());
  }

  /** Sets the server's clock. */
  void now(long millis) {
    nowMillis = millis;
  }

  // Reads.

  BsonDocument find(String database, BsonDocument command) {
    String namespace = database + "." + command.getString("find").getValue();
    List<BsonDocument> found = new ArrayList<>(of(namespace));
    BsonDocument hint =
        command.get("hint") instanceof BsonDocument fields ? fields : new BsonDocument();
    if (hint.containsKey("$natural")) {
      if (hint.getInt32("$natural").getValue() < 0) {
        Collections.reverse(found);
      }
    } else {
      found.sort(by(command.getDocument("sort", hint)));
      found.removeIf(
          document ->
              (command.get("min") instanceof BsonDocument min
                      && by(hint).compare(document, min) < 0)
                  || (command.get("max") instanceof BsonDocument max
                      && by(hint).compare(document, max) >= 0));
    }
    found.removeIf(
        document -> !matches(document, command.getDocument("filter", new BsonDocument())));
    int limit = command.getNumber("limit", new BsonInt32(0)).intValue();
    List<BsonDocument> rest = limit == 0 ? found : found.subList(0, Math.min(limit, found.size()));
    if (command.containsKey("showRecordId")) {
      rest =
          rest.stream()
              .map(
                  document ->
                      document
                          .clone()
                          .append("$recordId", new BsonInt64(1 + of(namespace).indexOf(document))))
              .toList();
    }
    return batch(namespace, rest, command, "firstBatch");
  }

  BsonDocument more(String database, BsonDocument command) {
    List<BsonDocument> rest = cursors.remove(command.getInt64("getMore").getValue());
    return rest == null
        ? BsonDocument.parse("{ok: 0, code: 43, codeName: 'CursorNotFound', errmsg: 'no cursor'}")
        : batch(
            database + "." + command.getString("collection").getValue(),
            rest,
            command,
            "nextBatch");
  }

  private BsonDocument batch(
      String namespace, List<BsonDocument> documents, BsonDocument command, String name) {
    int size = command.getNumber("batchSize", new BsonInt32(documents.size() + 1)).intValue();
    long id = documents.size() <= size ? 0 : ++lastCursor;
    if (id != 0) {
      cursors.put(id, List.copyOf(documents.subList(size, documents.size())));
    }
    List<BsonDocument> some = documents.subList(0, Math.min(size, documents.size()));
    return new BsonDocument("ok", new BsonInt32(1))
        .append(
            "cursor",
            new BsonDocument("id", new BsonInt64(id))
                .append("ns", new BsonString(namespace))
                .append(name, new BsonArray(some)));
  }

  private static Comparator<BsonDocument> by(BsonDocument fields) {
    return (one, other) -> {
      for (Map.Entry<String, BsonValue> field : fields.entrySet()) {
        int order = compare(value(one, field.getKey()), value(other, field.getKey()));
        if (order != 0) {
          return field.getValue().asNumber().intValue() < 0 ? -order : order;
        }
      }
      return 0;
    };
  }

  private static int compare(@Nullable BsonValue one, @Nullable BsonValue other) {
    return Arrays.compareUnsigned(key(one), key(other));
  }

  private static byte[] key(@Nullable BsonValue value) {
    return SortableKey.encode(value == null ? BsonNull.VALUE : value);
  }

  private static @Nullable BsonValue value(BsonDocument document, String path) {
    if (document.containsKey(path)) {
      return document.get(path);
    }
    int dot = path.indexOf('.');
    return dot > 0 && document.get(path.substring(0, dot)) instanceof BsonDocument inner
        ? value(inner, path.substring(dot + 1))
        : null;
  }

  // Filters and expressions.

  private boolean matches(BsonDocument document, BsonDocument filter) {
    return filter.entrySet().stream()
        .allMatch(
            each ->
                switch (each.getKey()) {
                  case "$and" ->
                      each.getValue().asArray().stream()
                          .allMatch(part -> matches(document, part.asDocument()));
                  case "$or" ->
                      each.getValue().asArray().stream()
                          .anyMatch(part -> matches(document, part.asDocument()));
                  case "$expr" -> evaluated(document, each.getValue()).equals(BsonBoolean.TRUE);
                  default -> isAs(value(document, each.getKey()), each.getValue());
                });
  }

  private static boolean isAs(@Nullable BsonValue value, BsonValue wanted) {
    if (!(wanted instanceof BsonDocument operators)
        || operators.isEmpty()
        || !operators.getFirstKey().startsWith("$")) {
      return compare(value, wanted) == 0;
    }
    return operators.entrySet().stream()
        .allMatch(
            each ->
                switch (each.getKey()) {
                  case "$eq" -> compare(value, each.getValue()) == 0;
                  case "$ne" -> compare(value, each.getValue()) != 0;
                  case "$lt" -> compare(value, each.getValue()) < 0;
                  case "$gte" -> compare(value, each.getValue()) >= 0;
                  case "$in" ->
                      each.getValue().asArray().stream().anyMatch(one -> compare(value, one) == 0);
                  case "$exists" -> each.getValue().asBoolean().getValue() == (value != null);
                  default -> throw new IllegalArgumentException(operators.toJson());
                });
  }

  private BsonValue evaluated(BsonDocument document, BsonValue expression) {
    if (expression instanceof BsonString text) {
      BsonValue value =
          text.getValue().equals("$$NOW")
              ? new BsonDateTime(nowMillis)
              : value(document, text.getValue().substring(1));
      return value == null ? BsonNull.VALUE : value;
    }
    if (!(expression instanceof BsonDocument operator)) {
      return expression;
    }
    BsonValue argument = operator.get(operator.getFirstKey());
    if (operator.getFirstKey().equals("$literal")) {
      return argument;
    }
    List<BsonValue> values =
        argument.asArray().stream().map(each -> evaluated(document, each)).toList();
    return switch (operator.getFirstKey()) {
      case "$or" -> BsonBoolean.valueOf(values.contains(BsonBoolean.TRUE));
      case "$eq" -> BsonBoolean.valueOf(compare(values.get(0), values.get(1)) == 0);
      case "$gt" -> BsonBoolean.valueOf(compare(values.get(0), values.get(1)) > 0);
      case "$lte" -> BsonBoolean.valueOf(compare(values.get(0), values.get(1)) <= 0);
      case "$add" ->
          values.get(0) instanceof BsonDateTime time
              ? new BsonDateTime(time.getValue() + values.get(1).asNumber().longValue())
              : new BsonInt64(
                  values.get(0).asNumber().longValue() + values.get(1).asNumber().longValue());
      default -> throw new IllegalArgumentException(operator.toJson());
    };
  }

  // Writes.

  BsonDocument insert(String database, BsonDocument command) {
    List<BsonDocument> into = of(database + "." + command.getString("insert").getValue());
    BsonArray errors = new BsonArray();
    List<BsonValue> documents = command.getArray("documents").getValues();
    int inserted = 0;
    for (int index = 0; index < documents.size(); index++) {
      BsonDocument document = copy(documents.get(index).asDocument());
      if (into.stream().noneMatch(each -> compare(each.get("_id"), document.get("_id")) == 0)) {
        into.add(document);
        inserted++;
        continue;
      }
      errors.add(
          BsonDocument.parse("{code: 11000, errmsg: 'E11000 duplicate key'}")
              .append("index", new BsonInt32(index)));
      if (command.getBoolean("ordered", BsonBoolean.TRUE).getValue()) {
        break;
      }
    }
    BsonDocument reply = written(inserted);
    return errors.isEmpty() ? reply : reply.append("writeErrors", errors);
  }

  private static BsonDocument copy(BsonDocument document) {
    BsonDocument copy = new BsonDocument();
    copy.putAll(document);
    return copy;
  }

  private static BsonDocument written(int count) {
    return new BsonDocument("ok", new BsonInt32(1))
        .append("n", new BsonInt32(count))
        .append("nModified", new BsonInt32(count));
  }

  BsonDocument update(String database, BsonDocument command) {
    List<BsonDocument> in = of(database + "." + command.getString("update").getValue());
    int count = 0;
    for (BsonValue each : command.getArray("updates")) {
      BsonDocument statement = each.asDocument();
      BsonDocument filter = statement.getDocument("q");
      BsonDocument found = first(in, filter);
      count += found == null && !statement.containsKey("upsert") ? 0 : 1;
      if (found != null) {
        change(found, statement.get("u"), false);
      } else if (statement.getBoolean("upsert", BsonBoolean.FALSE).getValue()) {
        BsonDocument created = new BsonDocument("_id", filter.get("_id"));
        change(created, statement.get("u"), true);
        in.add(created);
      }
    }
    return written(count);
  }

  private @Nullable BsonDocument first(List<BsonDocument> in, BsonDocument filter) {
    return in.stream().filter(document -> matches(document, filter)).findFirst().orElse(null);
  }

  private void change(BsonDocument document, BsonValue update, boolean created) {
    if (update instanceof BsonArray stages) {
      BsonDocument before = document.clone();
      stages
          .get(0)
          .asDocument()
          .getDocument("$set")
          .forEach((field, value) -> document.put(field, evaluated(before, value)));
      return;
    }
    BsonDocument operators = update.asDocument();
    if (operators.isEmpty() || !operators.getFirstKey().startsWith("$")) {
      document.clear();
      document.putAll(operators);
      return;
    }
    operators.forEach(
        (operator, fields) ->
            fields
                .asDocument()
                .forEach(
                    (field, value) -> {
                      switch (operator) {
                        case "$set" -> document.put(field, value);
                        case "$setOnInsert" -> {
                          if (created) {
                            document.put(field, value);
                          }
                        }
                        case "$inc" -> document.put(field, sum(document.get(field), value));
                        default -> throw new IllegalArgumentException(operator);
                      }
                    }));
  }

  private static BsonValue sum(@Nullable BsonValue present, BsonValue by) {
    long before = present == null ? 0 : present.asNumber().longValue();
    long sum = before + by.asNumber().longValue();
    return by.isInt32() ? new BsonInt32((int) sum) : new BsonInt64(sum);
  }

  BsonDocument delete(String database, BsonDocument command) {
    List<BsonDocument> in = of(database + "." + command.getString("delete").getValue());
    int count = 0;
    for (BsonValue each : command.getArray("deletes")) {
      BsonDocument statement = each.asDocument();
      boolean one = statement.getNumber("limit").intValue() == 1;
      for (BsonDocument document : List.copyOf(in)) {
        if (matches(document, statement.getDocument("q"))) {
          in.remove(document);
          count++;
          if (one) {
            break;
          }
        }
      }
    }
    return written(count);
  }

  BsonDocument findAndModify(String database, BsonDocument command) {
    List<BsonDocument> in = of(database + "." + command.getString("findAndModify").getValue());
    BsonDocument found = first(in, command.getDocument("query"));
    if (found != null) {
      change(found, command.get("update"), false);
    }
    return new BsonDocument("ok", new BsonInt32(1))
        .append("value", found == null ? BsonNull.VALUE : found.clone());
  }
}
