package dev.onehop.shards.command;

import java.util.List;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Which pipelines look at the collection's own documents only, so that the shard that has them all
 * can run them. To every other stage a shard would give what it has itself of another collection,
 * or of itself as a server, and say nothing.
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

  /** The first stage that looks elsewhere, null if none does. */
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
