package dev.onehop.copy.internal.structure;

import dev.onehop.copy.internal.KeyFields;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.structure.CollectionSpec.Kind;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.core.table.ShardKeyException;
import dev.onehop.core.table.ShardKeyPattern;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * An index that sets the order in which documents are read, for the collections that have the
 * index. The index must have exactly one entry for each document, and must not have a collation.
 */
public final class ReadOrder {
  private static final String OF_ID = "_id_";
  private static final int SHOWN = 3;

  private final String name;
  private final @Nullable BsonDocument key;

  /**
   * Creates the order of an index. The index is not looked up yet.
   *
   * @param index the name of the index, or its key as JSON
   * @throws IllegalArgumentException if the argument is neither a name nor JSON
   */
  public ReadOrder(String index) {
    this.name = index;
    this.key = index.startsWith("{") ? BsonDocument.parse(index) : null;
    if (index.isBlank()) {
      throw new IllegalArgumentException("the name of an index must not be blank");
    }
  }

  /**
   * The index of a collection.
   *
   * @return a document with the {@code key} and the {@code name} of the index; for the index of
   *     {@code _id} with the {@code key} only. Null if the collection does not have the index, is
   *     capped, or is a view or a time series
   */
  public @Nullable BsonDocument of(CollectionSpec spec) {
    if (spec.kind() != Kind.COLLECTION || spec.isCapped()) {
      return null;
    }
    if (isMeant(OF_ID, KeyFields.BY_ID)) {
      return new BsonDocument("key", KeyFields.BY_ID);
    }
    for (BsonDocument index : spec.indexes()) {
      if (isMeant(index.getString("name").getValue(), index.getDocument("key"))) {
        return new BsonDocument("name", index.get("name")).append("key", index.get("key"));
      }
    }
    return null;
  }

  private boolean isMeant(String indexName, BsonDocument indexKey) {
    return key == null
        ? name.equals(indexName)
        : DestinationStructure.fields(key).equals(DestinationStructure.fields(indexKey));
  }

  /**
   * Checks that the index can be used.
   *
   * @param notes receives a text that lists the collections without the index
   * @throws CopyException if the index can't be used in a collection, or if no collection has it
   */
  public void check(ClusterEnd source, List<CollectionSpec> specs, Consumer<String> notes)
      throws InterruptedException {
    List<String> without = new ArrayList<>();
    int with = 0;
    for (CollectionSpec spec : specs) {
      if (spec.kind() == Kind.VIEW) {
        continue;
      }
      BsonDocument index = of(spec);
      if (index == null) {
        without.add(spec.namespace());
        continue;
      }
      with++;
      String why = unusable(spec, index);
      if (why == null && isMultikey(source, spec, index)) {
        why = "has several entries for a document, because a field has an array";
      }
      if (why != null) {
        throw new CopyException(
            "%s can't be read in the order of %s, which %s".formatted(spec.namespace(), name, why),
            null);
      }
    }
    if (with == 0) {
      throw new CopyException("no collection has the index " + name, null);
    }
    if (!without.isEmpty()) {
      notes.accept(
          "collections without the index %s are read in another order: %s%s"
              .formatted(
                  name,
                  String.join(", ", without.subList(0, Math.min(SHOWN, without.size()))),
                  without.size() > SHOWN ? " and " + (without.size() - SHOWN) + " more" : ""));
    }
  }

  private static @Nullable String unusable(CollectionSpec spec, BsonDocument used) {
    if (!used.containsKey("name")) {
      return spec.collation() == null ? null : "has a collation";
    }
    BsonDocument index =
        spec.indexes().stream()
            .filter(each -> each.getString("name").equals(used.get("name")))
            .findFirst()
            .orElseThrow();
    if (index.getBoolean("sparse", BsonBoolean.FALSE).getValue()) {
      return "is sparse and does not have every document";
    }
    if (index.containsKey("partialFilterExpression")) {
      return "is partial and does not have every document";
    }
    if (index.getBoolean("hidden", BsonBoolean.FALSE).getValue()) {
      return "is hidden";
    }
    if (!CollectionSpec.isSimple(index.get("collation"))) {
      return "has a collation";
    }
    try {
      if (!ShardKeyPattern.of(index.getDocument("key")).isHashed()) {
        return null;
      }
    } catch (ShardKeyException otherKind) {
      // The index is a text, geographic or wildcard index.
    }
    return "does not keep the order of values";
  }

  /**
   * Whether an index has several entries for a document, because a field has an array. The command
   * goes to each shard, because a shard reports only its own entries.
   */
  private static boolean isMultikey(ClusterEnd source, CollectionSpec spec, BsonDocument index)
      throws InterruptedException {
    BsonValue hint = index.containsKey("name") ? index.get("name") : index.get("key");
    BsonDocument explain =
        new BsonDocument(
                "explain",
                new BsonDocument("find", new BsonString(Mapping.collectionOf(spec.namespace())))
                    .append("hint", hint)
                    .append("collation", CollectionSpec.SIMPLE))
            .append("verbosity", new BsonString("queryPlanner"));
    for (ReplicaSet servers : source.shards().values()) {
      try {
        if (hasMultikey(
            source.one(
                () -> source.send(servers, Mapping.databaseOf(spec.namespace()), explain)))) {
          return true;
        }
      } catch (CommandFailure refused) {
        // A shard without documents may lack the index, so its refusal is ignored.
        if (refused.code() != ErrorCodes.BAD_VALUE) {
          throw refused;
        }
      }
    }
    return false;
  }

  private static boolean hasMultikey(BsonValue plan) {
    if (plan.isArray()) {
      return plan.asArray().stream().anyMatch(ReadOrder::hasMultikey);
    }
    return plan.isDocument()
        && plan.asDocument().entrySet().stream()
            .anyMatch(
                field ->
                    (field.getKey().equals("isMultiKey")
                            && BsonBoolean.TRUE.equals(field.getValue()))
                        || hasMultikey(field.getValue()));
  }

  /** The index as the caller gave it. */
  @Override
  public String toString() {
    return name;
  }
}
