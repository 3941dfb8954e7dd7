package dev.onehop.routing.internal.client;

import com.mongodb.client.model.Collation;
import com.mongodb.client.model.DeleteManyModel;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.DeleteOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDocumentWrapper;
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
  /** Any update: its operators don't matter, and the driver refuses one without. */
  private static final BsonDocument OPERATORS = new BsonDocument("$set", new BsonDocument());

  private static final BsonArray PIPELINE = new BsonArray();

  private final MongoCollection<D> collection;
  private volatile @Nullable Codec<D> codec;

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

  Function<RoutingTable, Target> insert(D document) {
    return table -> Targeter.insert(table, inserted(document, table));
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
            table,
            query(filter),
            // Encoded when it is looked at, which it mostly isn't.
            new BsonDocumentWrapper<>(replacement, codec()),
            upsert,
            options(collation, variables));
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
            table, query(filter), OPERATORS, many, upsert, options(collation, variables));
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
            table, query(filter), PIPELINE, many, upsert, options(collation, variables));
  }

  Function<RoutingTable, Target> findAndModify(
      Bson filter, @Nullable Collation collation, @Nullable Bson variables) {
    return table -> Targeter.findAndModify(table, query(filter), options(collation, variables));
  }

  /** What one model of a bulk write touches. */
  Function<RoutingTable, Target> model(WriteModel<? extends D> model) {
    if (model instanceof InsertOneModel<? extends D> insert) {
      return insert(insert.getDocument());
    }
    if (model instanceof ReplaceOneModel<? extends D> replace) {
      ReplaceOptions options = replace.getReplaceOptions();
      return replace(
          replace.getFilter(),
          replace.getReplacement(),
          options.isUpsert(),
          options.getCollation(),
          options.getLet());
    }
    if (model instanceof UpdateOneModel<? extends D> update) {
      return update(
          update.getFilter(),
          update.getUpdate(),
          update.getUpdatePipeline(),
          false,
          update.getOptions());
    }
    if (model instanceof UpdateManyModel<? extends D> update) {
      return update(
          update.getFilter(),
          update.getUpdate(),
          update.getUpdatePipeline(),
          true,
          update.getOptions());
    }
    if (model instanceof DeleteOneModel<? extends D> delete) {
      DeleteOptions options = delete.getOptions();
      return delete(delete.getFilter(), false, options.getCollation(), options.getLet());
    }
    if (model instanceof DeleteManyModel<? extends D> delete) {
      DeleteOptions options = delete.getOptions();
      return delete(delete.getFilter(), true, options.getCollation(), options.getLet());
    }
    // A kind of model that a later driver brought: for a mongos to route.
    return table -> Targeter.find(table, new BsonDocument(), TargetingOptions.NONE);
  }

  /**
   * The document with an {@code _id}, which may be part of the shard key: the one that the driver
   * would give it when it sends it.
   */
  D withId(D document) {
    return document != null
            && codec() instanceof CollectibleCodec<D> collectible
            && !collectible.documentHasId(document)
        ? collectible.generateIdIfAbsentFromDocument(document)
        : document;
  }

  /** The model with an {@code _id} in what it inserts. */
  WriteModel<? extends D> withId(WriteModel<? extends D> model) {
    return model instanceof InsertOneModel<? extends D> insert
        ? new InsertOneModel<>(withId((D) insert.getDocument()))
        : model;
  }

  private Function<RoutingTable, Target> update(
      Bson filter,
      @Nullable Bson update,
      @Nullable List<? extends Bson> pipeline,
      boolean many,
      UpdateOptions options) {
    return update != null
        ? update(filter, update, many, options.isUpsert(), options.getCollation(), options.getLet())
        : update(
            filter,
            Objects.requireNonNull(pipeline),
            many,
            options.isUpsert(),
            options.getCollation(),
            options.getLet());
  }

  private TargetingOptions options(@Nullable Collation collation, @Nullable Bson variables) {
    return collation == null && variables == null
        ? TargetingOptions.NONE
        : new TargetingOptions(
            collation == null ? null : collation.asDocument(),
            variables == null ? null : bson(variables));
  }

  private BsonDocument query(@Nullable Bson filter) {
    if (filter instanceof EncodedFilter once) {
      return once.encode(collection.getDocumentClass(), collection.getCodecRegistry());
    }
    return filter == null ? new BsonDocument() : bson(filter);
  }

  private BsonDocument bson(Bson value) {
    return value.toBsonDocument(collection.getDocumentClass(), collection.getCodecRegistry());
  }

  /** What of a new document decides where it goes. */
  private BsonDocument inserted(D document, RoutingTable table) {
    if (document instanceof BsonDocument bson) {
      return bson;
    }
    Codec<D> codec = codec();
    BsonDocument key =
        table.isSharded()
            ? ShardKeyFields.of(
                document, codec, collection.getCodecRegistry(), table.shardKeyPattern())
            : null;
    return key != null ? key : new RawBsonDocument(document, codec);
  }

  /** Asked for once: each question makes a key for the registry's cache. */
  private Codec<D> codec() {
    Codec<D> found = codec;
    if (found == null) {
      found = collection.getCodecRegistry().get(collection.getDocumentClass());
      codec = found;
    }
    return found;
  }
}
