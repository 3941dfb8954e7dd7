package dev.onehop.routing.internal.client;

import com.mongodb.client.model.Collation;
import com.mongodb.client.model.CountOptions;
import com.mongodb.client.model.DeleteManyModel;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.DeleteOptions;
import com.mongodb.client.model.FindOneAndDeleteOptions;
import com.mongodb.client.model.FindOneAndReplaceOptions;
import com.mongodb.client.model.FindOneAndUpdateOptions;
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
import org.bson.BsonValue;
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
  private volatile @Nullable ShardKeyFields shardKeyFields;

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

  // Options are read when the operation runs: a missing one is for the driver to refuse.

  Function<RoutingTable, Target> count(Bson filter, CountOptions options) {
    return table -> Targeter.find(table, query(filter), options(options.getCollation(), null));
  }

  Function<RoutingTable, Target> delete(Bson filter, boolean many, DeleteOptions options) {
    return table ->
        Targeter.delete(
            table, query(filter), many, options(options.getCollation(), options.getLet()));
  }

  Function<RoutingTable, Target> replace(Bson filter, D replacement, ReplaceOptions options) {
    return table ->
        Targeter.replace(
            table,
            query(filter),
            // Encoded when it is looked at, which it mostly isn't.
            new BsonDocumentWrapper<>(replacement, codec()),
            options.isUpsert(),
            options(options.getCollation(), options.getLet()));
  }

  Function<RoutingTable, Target> update(
      Bson filter, Bson update, boolean many, UpdateOptions options) {
    return table -> update(table, filter, OPERATORS, many, options);
  }

  Function<RoutingTable, Target> update(
      Bson filter, List<? extends Bson> update, boolean many, UpdateOptions options) {
    return table -> update(table, filter, PIPELINE, many, options);
  }

  private Target update(
      RoutingTable table, Bson filter, BsonValue update, boolean many, UpdateOptions options) {
    return Targeter.update(
        table,
        query(filter),
        update,
        many,
        options.isUpsert(),
        options(options.getCollation(), options.getLet()));
  }

  Function<RoutingTable, Target> findAndModify(Bson filter, FindOneAndDeleteOptions options) {
    return table -> findAndModify(table, filter, options.getCollation(), options.getLet());
  }

  Function<RoutingTable, Target> findAndModify(Bson filter, FindOneAndReplaceOptions options) {
    return table -> findAndModify(table, filter, options.getCollation(), options.getLet());
  }

  Function<RoutingTable, Target> findAndModify(Bson filter, FindOneAndUpdateOptions options) {
    return table -> findAndModify(table, filter, options.getCollation(), options.getLet());
  }

  private Target findAndModify(
      RoutingTable table, Bson filter, @Nullable Collation collation, @Nullable Bson variables) {
    return Targeter.findAndModify(table, query(filter), options(collation, variables));
  }

  /** What one model of a bulk write touches. */
  Function<RoutingTable, Target> model(WriteModel<? extends D> model) {
    if (model instanceof InsertOneModel<? extends D> insert) {
      return insert(insert.getDocument());
    }
    if (model instanceof ReplaceOneModel<? extends D> replace) {
      return replace(replace.getFilter(), replace.getReplacement(), replace.getReplaceOptions());
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
      return delete(delete.getFilter(), false, delete.getOptions());
    }
    if (model instanceof DeleteManyModel<? extends D> delete) {
      return delete(delete.getFilter(), true, delete.getOptions());
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
        ? update(filter, update, many, options)
        : update(filter, Objects.requireNonNull(pipeline), many, options);
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
        table.isSharded() ? shardKeyFields().of(document, codec, table.shardKeyPattern()) : null;
    return key != null ? key : new RawBsonDocument(document, codec);
  }

  private ShardKeyFields shardKeyFields() {
    ShardKeyFields known = shardKeyFields;
    if (known == null) {
      known = new ShardKeyFields(collection.getCodecRegistry());
      shardKeyFields = known;
    }
    return known;
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
