package dev.onehop.streams.mirror;

import static dev.onehop.core.bson.Expressions.literal;
import static dev.onehop.core.bson.Expressions.operator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Creates the updates that apply the changes of update events to a document. The document then has
 * the same bytes as the source's document: new fields are in the same order.
 *
 * <p>Several events that change only fields at the top level become one update with an aggregation
 * pipeline. If a field is removed and set again, there are two updates. Changes of nested fields
 * become update operators, because a pipeline would apply a path to every element of an array.
 */
public final class FieldUpdates {
  private static final BsonString OBJECT = new BsonString("object");
  private static final BsonString ARRAY = new BsonString("array");
  private static final BsonArray NESTING = new BsonArray(List.of(OBJECT, ARRAY));

  private final BsonDocument filter;
  private final boolean repeatable;
  private final List<Update> updates = new ArrayList<>();
  private final Set<String> removed = new HashSet<>();
  private List<BsonDocument> stages = new ArrayList<>();

  /**
   * An update of a document.
   *
   * @param filter matches the document
   * @param update update operators, or the stages of a pipeline
   * @param names the part of the filter that excludes ambiguous documents. A path {@code a.b} of an
   *     event can mean a field {@code b} of {@code a}, or a field with the name {@code a.b}. This
   *     part matches only documents without a field {@code a.b}. Null if no path is ambiguous
   */
  public record Update(BsonDocument filter, BsonValue update, @Nullable BsonDocument names) {
    /**
     * Whether the filter excludes documents in which a path of the event can also mean a field with
     * a dot in its name.
     */
    public boolean guarded() {
      return names != null;
    }
  }

  private FieldUpdates(BsonDocument filter, boolean repeatable) {
    this.filter = filter;
    this.repeatable = repeatable;
  }

  /**
   * The updates of a document, to be run in this order.
   *
   * @param filter matches only the document
   * @param events the changes, in the order of the events
   */
  public static List<Update> of(BsonDocument filter, List<FieldChanges> events) {
    return new FieldUpdates(filter, false).updates(joined(events));
  }

  /**
   * The updates of one event, which may run again on a document that already has the changes of
   * later events. The updates do not fail if later events have changed the type of a value. When
   * the later events have run again, too, the document is as before, except that a field may have
   * another position.
   */
  public static List<Update> repeatable(BsonDocument filter, FieldChanges event) {
    return new FieldUpdates(filter, true).updates(List.of(event));
  }

  private List<Update> updates(List<FieldChanges> changes) {
    for (int i = 0; i < changes.size(); i++) {
      FieldChanges each = changes.get(i);
      boolean alone = stages.isEmpty() && (i + 1 == changes.size() || !changes.get(i + 1).isFlat());
      if (!each.isFlat()
          || (alone && each.truncated().isEmpty() && each.ascendingSets().size() < 2)) {
        flush();
        addOperators(each);
      } else {
        addStages(each);
      }
    }
    flush();
    return updates;
  }

  /**
   * Joins events that one {@code $set} operator can express, because an operator costs a server
   * less time than a pipeline.
   */
  private static List<FieldChanges> joined(List<FieldChanges> events) {
    List<FieldChanges> joined = new ArrayList<>();
    for (FieldChanges each : events) {
      int last = joined.size() - 1;
      FieldChanges both = last < 0 ? null : joined.get(last).joined(each);
      if (both == null) {
        joined.add(each);
      } else {
        joined.set(last, both);
      }
    }
    return joined;
  }

  private void addStages(FieldChanges changes) {
    // Within a pipeline, a field that is removed and set again would keep its old position.
    if (changes.set().keySet().stream().anyMatch(removed::contains)) {
      flush();
    }
    changes
        .truncated()
        .forEach((name, length) -> stages.add(stage("$set", name, sliced(name, length))));
    changes.set().forEach(this::addSet);
    for (String name : changes.removed()) {
      stages.add(new BsonDocument("$unset", new BsonString(name)));
      removed.add(name);
    }
  }

  private BsonValue sliced(String name, int length) {
    BsonString array = new BsonString("$" + name);
    BsonValue sliced =
        length == 0 ? literal(new BsonArray()) : operator("$slice", array, new BsonInt32(length));
    return repeatable
        ? operator("$cond", new BsonDocument("$isArray", array), sliced, array)
        : sliced;
  }

  /**
   * Adds a field to the last stage if that stage sets only literal values; otherwise adds a stage.
   * A pipeline's {@code $set} adds fields in the order of the stage.
   */
  private void addSet(String name, BsonValue value) {
    BsonDocument last = stages.isEmpty() ? null : stages.get(stages.size() - 1);
    if (last != null
        && last.get("$set") instanceof BsonDocument fields
        && fields.values().stream().allMatch(each -> each.asDocument().containsKey("$literal"))) {
      fields.put(name, literal(value));
    } else {
      stages.add(stage("$set", name, literal(value)));
    }
  }

  private static BsonDocument stage(String operator, String field, BsonValue value) {
    return new BsonDocument(operator, new BsonDocument(field, value));
  }

  private void flush() {
    if (!stages.isEmpty()) {
      updates.add(new Update(filter, new BsonArray(stages), null));
      stages = new ArrayList<>();
      removed.clear();
    }
  }

  private void addOperators(FieldChanges changes) {
    // Each truncation is a separate update, because a server refuses one update with operators on
    // an array and on its elements.
    changes
        .truncated()
        .forEach(
            (path, length) ->
                add(
                    changes,
                    List.of(path),
                    stage(
                        "$push",
                        path,
                        new BsonDocument("$each", new BsonArray())
                            .append("$slice", new BsonInt32(length)))));
    BsonDocument update = new BsonDocument();
    List<String> paths = new ArrayList<>(changes.removed());
    if (!paths.isEmpty()) {
      BsonDocument names = new BsonDocument();
      paths.forEach(path -> names.append(path, new BsonString("")));
      update.append("$unset", names);
    }
    for (Map<String, BsonValue> fields : changes.ascendingSets()) {
      BsonDocument values = new BsonDocument();
      values.putAll(fields);
      paths.addAll(fields.keySet());
      add(changes, paths, update.append("$set", values));
      update = new BsonDocument();
      paths = new ArrayList<>();
    }
    if (!update.isEmpty()) {
      add(changes, paths, update);
    }
  }

  private void add(FieldChanges changes, List<String> paths, BsonDocument update) {
    List<String> nested =
        changes.isFlat() ? List.of() : paths.stream().filter(path -> path.contains(".")).toList();
    BsonDocument names = changes.clear() || nested.isEmpty() ? null : names(nested);
    BsonArray conditions = new BsonArray(List.of(filter));
    if (repeatable) {
      nested.stream()
          .map(path -> hasParent(FieldChanges.parts(path)))
          .distinct()
          .forEach(conditions::add);
      if (update.containsKey("$push")) {
        paths.forEach(
            path -> conditions.add(hasType(List.of(FieldChanges.parts(path)), List.of(ARRAY))));
      }
    } else if (names != null) {
      nested.forEach(
          path -> conditions.add(type(path.substring(0, path.lastIndexOf('.')), NESTING)));
    }
    if (names != null) {
      conditions.add(names);
    }
    updates.add(
        new Update(
            conditions.size() == 1 ? filter : new BsonDocument("$and", conditions), update, names));
  }

  private static BsonDocument type(String path, BsonValue types) {
    return new BsonDocument(path, new BsonDocument("$type", types));
  }

  /**
   * Matches if the document has the parent of a path's last name. The parent is an object, or an
   * array if the last name can be an index.
   */
  private static BsonDocument hasParent(String[] path) {
    int last = path.length - 1;
    return hasType(
        List.of(path).subList(0, last),
        FieldChanges.isIndex(path[last]) ? List.of(OBJECT, ARRAY) : List.of(OBJECT));
  }

  /**
   * Matches by the type of a value. It is an expression, because a path of a query would also apply
   * to every element of an array.
   */
  private static BsonDocument hasType(List<String> path, List<BsonString> types) {
    BsonValue value = new BsonString("$$ROOT");
    for (String name : path) {
      value = FieldChanges.isIndex(name) ? at(value, name) : field(value, name);
    }
    return new BsonDocument(
        "$expr", operator("$in", new BsonDocument("$type", value), new BsonArray(types)));
  }

  private static BsonDocument at(BsonValue value, String index) {
    BsonString in = new BsonString("$$in");
    return new BsonDocument(
        "$let",
        new BsonDocument("vars", new BsonDocument("in", value))
            .append(
                "in",
                operator(
                    "$cond",
                    new BsonDocument("$isArray", in),
                    operator("$arrayElemAt", in, new BsonInt32(Integer.parseInt(index))),
                    field(in, index))));
  }

  /** Matches if no path can mean a field with a dot in its name: the document has no such field. */
  private static BsonDocument names(List<String> paths) {
    BsonArray missing = new BsonArray();
    for (String path : paths) {
      List<String> parts = Arrays.asList(FieldChanges.parts(path));
      for (int from = 0; from < parts.size() - 1; from++) {
        BsonString in =
            new BsonString(from == 0 ? "$$ROOT" : "$" + String.join(".", parts.subList(0, from)));
        for (int to = from + 2; to <= parts.size(); to++) {
          missing.add(isMissing(in, String.join(".", parts.subList(from, to))));
        }
      }
    }
    return new BsonDocument("$expr", new BsonDocument("$and", missing));
  }

  private static BsonDocument isMissing(BsonString in, String name) {
    return operator("$eq", new BsonDocument("$type", field(in, name)), new BsonString("missing"));
  }

  private static BsonDocument field(BsonValue in, String name) {
    return new BsonDocument(
        "$getField", new BsonDocument("field", literal(new BsonString(name))).append("input", in));
  }
}
