package dev.onehop.streams.mirror;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;

/**
 * Makes the statements that change the fields of a document as update events say, to the same
 * bytes: also new fields are in the same order.
 *
 * <p>Events that name the document's own fields only become one update with an aggregation
 * pipeline, unless a field is removed and comes back. Paths into nested fields need update
 * operators, for a pipeline would go into each element of an array.
 */
public final class FieldUpdates {
  private static final BsonArray NESTING =
      new BsonArray(List.of(new BsonString("object"), new BsonString("array")));

  private final BsonDocument filter;
  private final List<Update> updates = new ArrayList<>();
  private final Set<String> removed = new HashSet<>();
  private List<BsonDocument> stages = new ArrayList<>();

  /**
   * An update of a document.
   *
   * @param filter matches the document
   * @param update operators, or the stages of a pipeline
   * @param guarded whether the filter matches only if the event's paths mean nested fields in the
   *     document
   */
  public record Update(BsonDocument filter, BsonValue update, boolean guarded) {}

  private FieldUpdates(BsonDocument filter) {
    this.filter = filter;
  }

  /**
   * The updates of a document, to be run in this order.
   *
   * @param filter that matches the document only
   * @param events what they change, in their order
   */
  public static List<Update> of(BsonDocument filter, List<FieldChanges> events) {
    FieldUpdates all = new FieldUpdates(filter);
    List<FieldChanges> changes = joined(events);
    for (int i = 0; i < changes.size(); i++) {
      FieldChanges each = changes.get(i);
      boolean alone =
          all.stages.isEmpty() && (i + 1 == changes.size() || !changes.get(i + 1).isFlat());
      if (!each.isFlat()
          || (alone && each.truncated().isEmpty() && each.ascendingSets().size() < 2)) {
        all.flush();
        all.addOperators(each);
      } else {
        all.addStages(each);
      }
    }
    all.flush();
    return all.updates;
  }

  /** One operator costs a server less than a pipeline. */
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
    // Within a pipeline, a field that is removed and set again would keep its old place.
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

  private static BsonValue sliced(String name, int length) {
    return length == 0
        ? literal(new BsonArray())
        : new BsonDocument(
            "$slice", new BsonArray(List.of(new BsonString("$" + name), new BsonInt32(length))));
  }

  /** A stage that only sets values takes more of them: a field keeps its place in it. */
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

  private static BsonDocument literal(BsonValue value) {
    return new BsonDocument("$literal", value);
  }

  private void flush() {
    if (!stages.isEmpty()) {
      updates.add(new Update(filter, new BsonArray(stages), false));
      stages = new ArrayList<>();
      removed.clear();
    }
  }

  private void addOperators(FieldChanges changes) {
    // Operators on an array and on what is in it would conflict.
    changes
        .truncated()
        .forEach(
            (path, length) ->
                add(
                    changes,
                    List.of(path),
                    update ->
                        update.append(
                            "$push",
                            new BsonDocument(
                                path,
                                new BsonDocument("$each", new BsonArray())
                                    .append("$slice", new BsonInt32(length))))));
    BsonDocument names = new BsonDocument();
    changes.removed().forEach(path -> names.append(path, new BsonString("")));
    List<Map<String, BsonValue>> sets = changes.ascendingSets();
    List<String> first = new ArrayList<>(changes.removed());
    sets.stream().limit(1).forEach(fields -> first.addAll(fields.keySet()));
    if (!first.isEmpty()) {
      add(
          changes,
          first,
          update -> {
            if (!names.isEmpty()) {
              update.append("$unset", names);
            }
            sets.stream().limit(1).forEach(fields -> update.append("$set", document(fields)));
          });
    }
    for (Map<String, BsonValue> fields : sets.subList(Math.min(1, sets.size()), sets.size())) {
      add(changes, fields.keySet(), update -> update.append("$set", document(fields)));
    }
  }

  private static BsonDocument document(Map<String, BsonValue> fields) {
    BsonDocument document = new BsonDocument();
    document.putAll(fields);
    return document;
  }

  private void add(
      FieldChanges changes, Collection<String> paths, Consumer<BsonDocument> operator) {
    BsonDocument update = new BsonDocument();
    operator.accept(update);
    List<String> nested =
        changes.told() || changes.isFlat()
            ? List.of()
            : paths.stream().filter(path -> path.contains(".")).toList();
    updates.add(
        new Update(
            nested.isEmpty() ? filter : guarded(nested), update, !nested.isEmpty()));
  }

  /**
   * Matches if the document has what these paths go through, and none of the fields with dots in
   * their names that they could mean.
   */
  private BsonDocument guarded(List<String> paths) {
    BsonArray conditions = new BsonArray(List.of(filter));
    BsonArray missing = new BsonArray();
    for (String path : paths) {
      List<String> parts = Arrays.asList(FieldChanges.parts(path));
      int last = parts.size() - 1;
      conditions.add(
          new BsonDocument(
              String.join(".", parts.subList(0, last)), new BsonDocument("$type", NESTING)));
      for (int from = 0; from < last; from++) {
        BsonString in =
            new BsonString(from == 0 ? "$$ROOT" : "$" + String.join(".", parts.subList(0, from)));
        for (int to = from + 2; to <= parts.size(); to++) {
          missing.add(isMissing(in, String.join(".", parts.subList(from, to))));
        }
      }
    }
    conditions.add(new BsonDocument("$expr", new BsonDocument("$and", missing)));
    return new BsonDocument("$and", conditions);
  }

  private static BsonDocument isMissing(BsonString in, String name) {
    BsonDocument field =
        new BsonDocument(
            "$getField",
            new BsonDocument("field", literal(new BsonString(name))).append("input", in));
    return new BsonDocument(
        "$eq", new BsonArray(List.of(new BsonDocument("$type", field), new BsonString("missing"))));
  }
}
