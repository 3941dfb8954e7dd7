package dev.onehop.routing.internal.client;

import com.mongodb.client.model.Collation;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import java.util.List;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.bson.codecs.Codec;
import org.bson.codecs.CollectibleCodec;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * What an operation of a collection touches, once a routing table is at hand. Filters and documents
 * are encoded with the collection's own codecs.
 *
 * @param <D> the type of the collection's documents
 */
final class OperationTargets<D> {
  private final MongoCollection<D> collection;

  OperationTargets(MongoCollection<D> collection) {
    this.collection = collection;
  }

  Function<RoutingTable, Target> find(
      @Nullable Bson filter, @Nullable Collation collation, @Nullable Bson variables) {
    return table -> Targeter.find(table, query(filter), options(collation, variables));
  }

  Function<RoutingTable, Target> aggregate(
      List<? extends Bson> pipeline, @Nullable Collation collation, @Nullable Bson variables) {
    return table ->
        Targeter.aggregate(
            table, pipeline.stream().map(this::bson).toList(), options(collation, variables));
  }

  /**
   * Documents to insert. One that has no {@code _id} yet gets it here, since it may be part of the
   * shard key; the driver then finds it there.
   */
  Function<RoutingTable, Target> insert(List<? extends D> documents) {
    return table -> {
      Target common = null;
      for (D document : documents) {
        Target target = Targeter.insert(table, encode(document));
        if (common != null
            && !(common.isSingleShard()
                && target.isSingleShard()
                && common.shard().equals(target.shard()))) {
          return Targeter.find(table, new BsonDocument(), TargetingOptions.NONE);
        }
        common = target;
      }
      return common == null
          ? Targeter.find(table, new BsonDocument(), TargetingOptions.NONE)
          : common;
    };
  }

  Function<RoutingTable, Target> delete(
      Bson filter, boolean many, @Nullable Collation collation, @Nullable Bson variables) {
    return table -> Targeter.delete(table, query(filter), many, options(collation, variables));
  }

  Function<RoutingTable, Target> replace(
      Bson filter,
      D replacement,
      boolean upsert,
      @Nullable Collation collation,
      @Nullable Bson variables) {
    return table ->
        Targeter.replace(
            table, query(filter), raw(replacement), upsert, options(collation, variables));
  }

  Function<RoutingTable, Target> update(
      Bson filter,
      Bson update,
      boolean many,
      boolean upsert,
      @Nullable Collation collation,
      @Nullable Bson variables) {
    return table ->
        Targeter.update(
            table, query(filter), bson(update), many, upsert, options(collation, variables));
  }

  Function<RoutingTable, Target> update(
      Bson filter,
      List<? extends Bson> update,
      boolean many,
      boolean upsert,
      @Nullable Collation collation,
      @Nullable Bson variables) {
    return table ->
        Targeter.update(
            table,
            query(filter),
            new BsonArray(update.stream().map(this::bson).toList()),
            many,
            upsert,
            options(collation, variables));
  }

  Function<RoutingTable, Target> findAndModify(
      Bson filter, @Nullable Collation collation, @Nullable Bson variables) {
    return table -> Targeter.findAndModify(table, query(filter), options(collation, variables));
  }

  /** A mixed bulk: for a mongos to split. */
  Function<RoutingTable, Target> bulk(List<? extends WriteModel<? extends D>> requests) {
    return table -> Targeter.find(table, new BsonDocument(), TargetingOptions.NONE);
  }

  private TargetingOptions options(@Nullable Collation collation, @Nullable Bson variables) {
    return collation == null && variables == null
        ? TargetingOptions.NONE
        : new TargetingOptions(
            collation == null ? null : collation.asDocument(),
            variables == null ? null : bson(variables));
  }

  private BsonDocument query(@Nullable Bson filter) {
    return filter == null ? new BsonDocument() : bson(filter);
  }

  private BsonDocument bson(Bson value) {
    return value.toBsonDocument(collection.getDocumentClass(), collection.getCodecRegistry());
  }

  private BsonDocument encode(D document) {
    Codec<D> codec = codec();
    if (codec instanceof CollectibleCodec<D> collectible && !collectible.documentHasId(document)) {
      return raw(collectible.generateIdIfAbsentFromDocument(document));
    }
    return raw(document);
  }

  private BsonDocument raw(D document) {
    return document instanceof BsonDocument bson ? bson : new RawBsonDocument(document, codec());
  }

  private Codec<D> codec() {
    return collection.getCodecRegistry().get(collection.getDocumentClass());
  }
}
