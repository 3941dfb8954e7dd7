package dev.onehop.shards.command;

import java.util.List;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Finds the pipelines that read only documents of the command's collection. A shard that owns all
 * these documents can run such a pipeline. With any other stage, a shard would silently return
 * wrong results: its own part of another collection, or information on itself.
 */
public final class SingleCollectionStages {
  private static final Set<String> STAGES =
      Set.of(
          "$match",
          "$project",
          "$addFields",
          "$set",
          "$unset",
          "$replaceRoot",
          "$replaceWith",
          "$redact",
          "$unwind",
          "$sort",
          "$limit",
          "$skip",
          "$sample",
          "$group",
          "$bucket",
          "$bucketAuto",
          "$count",
          "$sortByCount",
          "$setWindowFields",
          "$densify",
          "$fill",
          "$geoNear",
          "$facet");

  private SingleCollectionStages() {}

  public static boolean areAll(List<BsonDocument> pipeline) {
    return firstOther(pipeline) == null;
  }

  /** The first stage that reads other data, null if there is none. */
  public static @Nullable String firstOther(List<BsonDocument> pipeline) {
    for (BsonDocument stage : pipeline) {
      String name = stage.isEmpty() ? "" : stage.getFirstKey();
      if (!STAGES.contains(name)) {
        return name;
      }
      if (name.equals("$facet") && stage.isDocument(name)) {
        for (BsonValue branch : stage.getDocument(name).values()) {
          String other =
              branch.isArray()
                  ? firstOther(branch.asArray().stream().map(BsonValue::asDocument).toList())
                  : null;
          if (other != null) {
            return other;
          }
        }
      }
    }
    return null;
  }
}
