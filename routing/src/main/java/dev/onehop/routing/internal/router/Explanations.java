package dev.onehop.routing.internal.router;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoTimeoutException;
import com.mongodb.ReadPreference;
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
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import dev.onehop.routing.internal.metrics.ExplainedRouter;
import dev.onehop.routing.observation.RouteExplanation;
import dev.onehop.shards.catalog.UnknownNamespaceException;
import dev.onehop.shards.command.WriteTargets;
import dev.onehop.wire.watch.SingleServer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.RawBsonDocument;
import org.bson.codecs.Codec;
import org.bson.codecs.CollectibleCodec;
import org.bson.codecs.configuration.CodecRegistries;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Explains routes, for {@link dev.onehop.routing.OneHop}. */
public final class Explanations {
  /** A placeholder for any update: the operators do not change the route. */
  private static final BsonDocument OPERATORS = new BsonDocument("$set", new BsonDocument());

  private final ExplainedRouter router;
  private final MongoClientSettings settings;
  private final CodecRegistry codecs;

  Explanations(ExplainedRouter router, MongoClientSettings settings) {
    this.router = router;
    this.settings = settings;
    this.codecs =
        CodecRegistries.withUuidRepresentation(
            settings.getCodecRegistry(), settings.getUuidRepresentation());
  }

  /** Explains a read with this filter and the read preference of the settings. */
  public Mono<RouteExplanation> read(String namespace, Bson filter) {
    return explain(
        namespace,
        table -> Targeter.find(table, bson(filter), TargetingOptions.NONE),
        settings.getReadPreference());
  }

  /** Explains a write. A document to insert gets its {@code _id}, as the driver adds it. */
  public Mono<RouteExplanation> write(String namespace, WriteModel<?> model) {
    return explain(namespace, table -> target(table, model), ReadPreference.primary());
  }

  private Target target(RoutingTable table, WriteModel<?> model) {
    if (model instanceof InsertOneModel<?> insert) {
      return WriteTargets.of(table, "insert", inserted(insert.getDocument()));
    }
    if (model instanceof ReplaceOneModel<?> replace) {
      ReplaceOptions options = replace.getReplaceOptions();
      return WriteTargets.of(
          table,
          "update",
          statement(replace.getFilter(), options.getCollation(), options.getLet())
              .append("u", raw(replace.getReplacement()))
              .append("upsert", BsonBoolean.valueOf(options.isUpsert())));
    }
    if (model instanceof UpdateOneModel<?> update) {
      return update(table, update.getFilter(), update.getUpdate(), false, update.getOptions());
    }
    if (model instanceof UpdateManyModel<?> update) {
      return update(table, update.getFilter(), update.getUpdate(), true, update.getOptions());
    }
    if (model instanceof DeleteOneModel<?> delete) {
      return delete(table, delete.getFilter(), 1, delete.getOptions());
    }
    if (model instanceof DeleteManyModel<?> delete) {
      return delete(table, delete.getFilter(), 0, delete.getOptions());
    }
    // The driver may have a newer kind of model, which may touch any shard.
    return Targeter.find(table, new BsonDocument(), TargetingOptions.NONE);
  }

  private Target update(
      RoutingTable table,
      Bson filter,
      @Nullable Bson operators,
      boolean many,
      UpdateOptions options) {
    return WriteTargets.of(
        table,
        "update",
        statement(filter, options.getCollation(), options.getLet())
            .append("u", operators == null ? new BsonArray() : OPERATORS)
            .append("multi", BsonBoolean.valueOf(many))
            .append("upsert", BsonBoolean.valueOf(options.isUpsert())));
  }

  private Target delete(RoutingTable table, Bson filter, int limit, DeleteOptions options) {
    return WriteTargets.of(
        table,
        "delete",
        statement(filter, options.getCollation(), options.getLet())
            .append("limit", new BsonInt32(limit)));
  }

  private BsonDocument statement(
      Bson filter, @Nullable Collation collation, @Nullable Bson variables) {
    BsonDocument statement = new BsonDocument("q", bson(filter));
    if (collation != null) {
      statement.append("collation", collation.asDocument());
    }
    if (variables != null) {
      statement.append("let", bson(variables));
    }
    return statement;
  }

  private BsonDocument bson(Bson value) {
    return value.toBsonDocument(BsonDocument.class, codecs);
  }

  private <D> BsonDocument inserted(D document) {
    boolean lacksId =
        codec(document) instanceof CollectibleCodec<D> collectible
            && !collectible.documentHasId(document);
    return raw(
        lacksId
            ? ((CollectibleCodec<D>) codec(document)).generateIdIfAbsentFromDocument(document)
            : document);
  }

  private <D> BsonDocument raw(D document) {
    return new RawBsonDocument(document, codec(document));
  }

  @SuppressWarnings("unchecked")
  private <D> Codec<D> codec(D document) {
    return codecs.get((Class<D>) document.getClass());
  }

  /** Waits for a server as long as the driver does. */
  private Mono<Void> selected() {
    long millis = settings.getClusterSettings().getServerSelectionTimeout(TimeUnit.MILLISECONDS);
    Mono<Void> started =
        Mono.defer(router::started)
            .onErrorMap(IOException.class, none -> new MongoTimeoutException(none.getMessage()));
    return millis < 0
        ? started
        : started.timeout(
            Duration.ofMillis(millis),
            Mono.error(
                () ->
                    new MongoTimeoutException(
                        "no server has replied within " + millis + " ms: " + router.outage())));
  }

  private Mono<RouteExplanation> explain(
      String namespace, Function<RoutingTable, Target> targeting, ReadPreference readPreference) {
    if (!router.isRouting()) {
      return Mono.just(RouteExplanation.ofNone(namespace, "routing is turned off"));
    }
    return selected()
        .then(Mono.defer(() -> router.table(namespace)))
        .map(targeting)
        .flatMap(
            target ->
                router
                    .choice(target, readPreference.toDocument())
                    .map(
                        choice ->
                            new RouteExplanation(
                                namespace,
                                choice.decision(),
                                target.shards(),
                                choice.servers().stream().map(SingleServer::address).toList(),
                                choice.reason(),
                                router.tableAge(namespace).orElse(null),
                                target)))
        .onErrorResume(
            UnknownNamespaceException.class,
            why ->
                Mono.just(
                    RouteExplanation.ofNone(
                        namespace, "there is no routing table: " + why.getMessage())));
  }
}
