package dev.onehop.streams.mirror;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The changes of a document's fields in an update event. They are applied in this order: arrays are
 * truncated, fields are set in the order of the map, fields are removed. Immutable.
 *
 * @param truncated the new lengths of arrays, by path
 * @param set the new values of fields, by path
 * @param removed the paths of removed fields
 * @param clear whether the event has {@code disambiguatedPaths}. If true, every dot in a path
 *     separates two names. If false, a dot may also be a part of a name
 */
public record FieldChanges(
    Map<String, Integer> truncated,
    Map<String, BsonValue> set,
    List<String> removed,
    boolean clear) {

  /**
   * Reads {@code updateDescription}.
   *
   * @return the changes; null if update operators can't express them, because the name of a field
   *     has a dot, begins with a dollar sign or is empty
   */
  public static @Nullable FieldChanges of(BsonDocument description) {
    Map<String, Integer> truncated = new LinkedHashMap<>();
    for (BsonValue each : description.getArray("truncatedArrays", new BsonArray())) {
      BsonDocument array = each.asDocument();
      truncated.put(array.getString("field").getValue(), array.getNumber("newSize").intValue());
    }
    Map<String, BsonValue> set = description.getDocument("updatedFields", new BsonDocument());
    List<String> removed = new ArrayList<>();
    description
        .getArray("removedFields", new BsonArray())
        .forEach(path -> removed.add(path.asString().getValue()));
    BsonDocument clear =
        description.get("disambiguatedPaths") instanceof BsonDocument paths ? paths : null;
    FieldChanges changes = new FieldChanges(truncated, set, removed, clear != null);
    for (String path : changes.paths()) {
      if (!isExpressible(path)
          || (clear != null && clear.containsKey(path) && hasDottedName(clear.getArray(path)))) {
        return null;
      }
    }
    return changes;
  }

  /**
   * Whether an update and all later updates may be applied again to a document that already has
   * their changes. If true, the document stays the same, also in the order of its fields.
   *
   * <p>The result is false if the update removes a field. For example, three updates remove {@code
   * a}, set {@code a} and add {@code b}. When they run again, {@code a} gets a position after
   * {@code b}.
   */
  public static boolean canBeRepeated(BsonDocument description) {
    return description.getArray("removedFields", new BsonArray()).isEmpty();
  }

  private static boolean isExpressible(String path) {
    if (path.indexOf('.') < 0) {
      return !path.isEmpty() && path.charAt(0) != '$';
    }
    for (String name : parts(path)) {
      if (name.isEmpty() || name.startsWith("$")) {
        return false;
      }
    }
    return true;
  }

  private static boolean hasDottedName(BsonArray parts) {
    return parts.stream()
        .anyMatch(part -> part.isString() && part.asString().getValue().contains("."));
  }

  private Collection<String> paths() {
    if (truncated.isEmpty() && removed.isEmpty()) {
      return set.keySet();
    }
    List<String> all = new ArrayList<>(truncated.keySet());
    all.addAll(set.keySet());
    all.addAll(removed);
    return all;
  }

  /** Whether all paths are names of fields at the top level of the document. */
  boolean isFlat() {
    for (String path : paths()) {
      if (path.indexOf('.') >= 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * These changes and the changes of the next event as one.
   *
   * @return null if one {@code $set} can't express them
   */
  @Nullable FieldChanges joined(FieldChanges next) {
    if (!onlySets() || !next.onlySets()) {
      return null;
    }
    Map<String, BsonValue> both = new LinkedHashMap<>(set);
    both.putAll(next.set);
    FieldChanges joined = new FieldChanges(Map.of(), both, List.of(), clear && next.clear);
    return joined.ascendingSets().size() == 1 ? joined : null;
  }

  private boolean onlySets() {
    return truncated.isEmpty() && removed.isEmpty() && isFlat();
  }

  /**
   * Whether the value of a field changes. It also changes if a nested field inside it changes, or
   * if a field that contains it changes.
   */
  public boolean concerns(String field) {
    for (String path : paths()) {
      if (path.equals(field) || path.startsWith(field + ".") || field.startsWith(path + ".")) {
        return true;
      }
    }
    return false;
  }

  /**
   * The fields to set, in one or more groups. Each group becomes one {@code $set}. A {@code $set}
   * adds new fields in the order of their names, and names of digits in the order of their numbers.
   * The groups are chosen so that the new fields have the order of the event.
   */
  List<Map<String, BsonValue>> ascendingSets() {
    List<Map<String, BsonValue>> sets = new ArrayList<>();
    String last = null;
    for (Map.Entry<String, BsonValue> field : set.entrySet()) {
      if (last == null || !isBefore(last, field.getKey())) {
        sets.add(new LinkedHashMap<>());
      }
      sets.get(sets.size() - 1).put(field.getKey(), field.getValue());
      last = field.getKey();
    }
    return sets;
  }

  private static boolean isBefore(String path, String other) {
    String[] parts = parts(path);
    String[] others = parts(other);
    for (int i = 0; i < Math.min(parts.length, others.length); i++) {
      if (!parts[i].equals(others[i])) {
        boolean number = isNumber(parts[i]);
        return number == isNumber(others[i])
            && (number
                ? parts[i].length() != others[i].length()
                    ? parts[i].length() < others[i].length()
                    : parts[i].compareTo(others[i]) < 0
                : Arrays.compareUnsigned(
                        parts[i].getBytes(StandardCharsets.UTF_8),
                        others[i].getBytes(StandardCharsets.UTF_8))
                    < 0);
      }
    }
    return parts.length < others.length;
  }

  private static boolean isNumber(String name) {
    for (int i = 0; i < name.length(); i++) {
      if (name.charAt(i) < '0' || name.charAt(i) > '9') {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether a name in a path would be the index of an element if its parent were an array. For
   * example, {@code 10} can be an index, but not {@code 01}.
   */
  static boolean isIndex(String name) {
    return name.length() < 10 && isNumber(name) && (name.length() == 1 || name.charAt(0) != '0');
  }

  static String[] parts(String path) {
    return path.split("\\.", -1);
  }
}
