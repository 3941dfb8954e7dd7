package dev.onehop.routing.internal.router;

import com.mongodb.ReadPreference;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.DeleteManyModel;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.DeleteOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.UpdateManyModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.WriteModel;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import dev.onehop.routing.internal.metrics.ExplainedRouter;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RouteExplanation;
import dev.onehop.shards.catalog.UnknownNamespaceException;
import dev.onehop.shards.command.WriteTargets;
import dev.onehop.wire.watch.SingleServer;
import java.util.List;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.Codec;
import org.bson.codecs.CollectibleCodec;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Explains routes, for {@link dev.onehop.routing.OneHop}. */
public final class Explanations {
  /** Any update: its operators don't matter. */
  private static final BsonDocument OPERATORS = new BsonDocument("$set", new BsonDocument());

  private Explanations() {}

  /** Where a read with this filter would go. */
  public static Mono<RouteExplanation> read(MongoCollection<?> collection, Bson filter) {
    return explain(
        collection,
        table -> Targeter.find(table, bson(collection, filter), TargetingOptions.NONE),
        collection.getReadPreference().toDocument());
  }

  /** Where a write would go. A document to insert gets its {@code _id}, as the driver gives it. */
  public static <D> Mono<RouteExplanation> write(
      MongoCollection<D> collection, WriteModel<? extends D> model) {
    return explain(collection, target(collection, model), ReadPreference.primary().toDocument());
  }

  private static <D> Function<RoutingTable, Target> target(
      MongoCollection<D> collection, WriteModel<? extends D> model) {
    if (model instanceof InsertOneModel<? extends D> insert) {
      return table -> WriteTargets.of(table, "insert", inserted(collection, insert.getDocument()));
    }
    if (model instanceof ReplaceOneModel<? extends D> replace) {
      return table ->
          WriteTargets.of(
              table,
              "update",
              statement(
                      collection,
                      replace.getFilter(),
                      replace.getReplaceOptions().getCollation(),
                      replace.getReplaceOptions().getLet())
                  .append("u", raw(collection, replace.getReplacement()))
                  .append("upsert", BsonBoolean.valueOf(replace.getReplaceOptions().isUpsert())));
    }
    if (model instanceof UpdateOneModel<? extends D> update) {
      return table ->
          update(
              table,
              collection,
              update.getFilter(),
              update.getUpdate(),
              false,
              update.getOptions());
    }
    if (model instanceof UpdateManyModel<? extends D> update) {
      return table ->
          update(
              table, collection, update.getFilter(), update.getUpdate(), true, update.getOptions());
    }
    if (model instanceof DeleteOneModel<? extends D> delete) {
      return table -> delete(table, collection, delete.getFilter(), 1, delete.getOptions());
    }
    if (model instanceof DeleteManyModel<? extends D> delete) {
      return table -> delete(table, collection, delete.getFilter(), 0, delete.getOptions());
    }
    // A kind of model that a later driver brought.
    return table -> Targeter.find(table, new BsonDocument(), TargetingOptions.NONE);
  }

  private static Target update(
      RoutingTable table,
      MongoCollection<?> collection,
      Bson filter,
      @Nullable Bson operators,
      boolean many,
      UpdateOptions options) {
    BsonValue update = operators == null ? new BsonArray() : OPERATORS;
    return WriteTargets.of(
        table,
        "update",
        statement(collection, filter, options.getCollation(), options.getLet())
            .append("u", update)
            .append("multi", BsonBoolean.valueOf(many))
            .append("upsert", BsonBoolean.valueOf(options.isUpsert())));
  }

  private static Target delete(
      RoutingTable table,
      MongoCollection<?> collection,
      Bson filter,
      int limit,
      DeleteOptions options) {
    return WriteTargets.of(
        table,
        "delete",
        statement(collection, filter, options.getCollation(), options.getLet())
            .append("limit", new BsonInt32(limit)));
  }

  private static BsonDocument statement(
      MongoCollection<?> collection,
      Bson filter,
      @Nullable Collation collation,
      @Nullable Bson variables) {
    BsonDocument statement = new BsonDocument("q", bson(collection, filter));
    if (collation != null) {
      statement.append("collation", collation.asDocument());
    }
    if (variables != null) {
      statement.append("let", bson(collection, variables));
    }
    return statement;
  }

  private static BsonDocument bson(MongoCollection<?> collection, Bson value) {
    return value.toBsonDocument(collection.getDocumentClass(), collection.getCodecRegistry());
  }

  private static <D> BsonDocument inserted(MongoCollection<D> collection, D document) {
    boolean lacksId =
        codec(collection) instanceof CollectibleCodec<D> collectible
            && !collectible.documentHasId(document);
    return raw(
        collection,
        lacksId
            ? ((CollectibleCodec<D>) codec(collection)).generateIdIfAbsentFromDocument(document)
            : document);
  }

  private static <D> BsonDocument raw(MongoCollection<D> collection, D document) {
    return new RawBsonDocument(document, codec(collection));
  }

  private static <D> Codec<D> codec(MongoCollection<D> collection) {
    return collection.getCodecRegistry().get(collection.getDocumentClass());
  }

  private static Mono<RouteExplanation> explain(
      MongoCollection<?> collection,
      Function<RoutingTable, Target> targeting,
      BsonDocument readPreference) {
    String namespace = collection.getNamespace().getFullName();
    return RouterHandles.of(collection)
        .flatMap(router -> explain(router, namespace, targeting, readPreference));
  }

  private static Mono<RouteExplanation> explain(
      ExplainedRouter router,
      String namespace,
      Function<RoutingTable, Target> targeting,
      BsonDocument readPreference) {
    return router
        .table(namespace)
        .flatMap(
            table -> {
              Target target = targeting.apply(table);
              return router
                  .zoneChoice(target, readPreference)
                  .map(
                      zone ->
                          new ExplainedRouter.ZoneChoice(
                              zone.decision(),
                              zone.servers(),
                              target.reason() + "; " + zone.reason()))
                  .defaultIfEmpty(
                      new ExplainedRouter.ZoneChoice(
                          router.decision(target), router.destinations(target), target.reason()))
                  .map(
                      choice ->
                          new RouteExplanation(
                              namespace,
                              choice.decision(),
                              target.shards(),
                              choice.servers().stream().map(SingleServer::address).toList(),
                              choice.reason(),
                              router.tableAge(namespace).orElse(null),
                              target));
            })
        .onErrorResume(
            UnknownNamespaceException.class,
            why ->
                Mono.just(
                    new RouteExplanation(
                        namespace,
                        RouteDecision.NO_TABLE,
                        List.of(),
                        List.of(),
                        "there is no routing table: " + why.getMessage(),
                        null,
                        null)));
  }
}
