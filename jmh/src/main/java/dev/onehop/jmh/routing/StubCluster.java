package dev.onehop.jmh.routing;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoNamespace;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.result.InsertOneResult;
import com.mongodb.client.result.UpdateResult;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterType;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The official client's interfaces without a driver below them: every operation ends at once. The
 * cluster has the shards and chunks of {@link StubMetadata}.
 */
final class StubCluster {
  static final String URI = "mongodb://h0:27017";
  private static final Document FOUND = new Document("_id", "user0").append("field0", "value");

  private StubCluster() {}

  static MongoClient client(MongoClientSettings settings) {
    ClusterDescription description =
        new ClusterDescription(ClusterConnectionMode.MULTIPLE, ClusterType.SHARDED, List.of());
    MongoDatabase config = database("config", settings);
    MongoDatabase data = database("ycsb", settings);
    return stub(
        MongoClient.class,
        (proxy, method, arguments) ->
            switch (method.getName()) {
              case "getDatabase" -> arguments[0].equals("config") ? config : data;
              case "getClusterDescription" -> description;
              case "getCodecRegistry" -> settings.getCodecRegistry();
              case "close" -> null;
              default -> throw new UnsupportedOperationException(method.toString());
            });
  }

  private static MongoDatabase database(String name, MongoClientSettings settings) {
    return stub(
        MongoDatabase.class,
        (proxy, method, arguments) ->
            switch (method.getName()) {
              case "getCollection" ->
                  collection(
                      new MongoNamespace(name, (String) arguments[0]),
                      arguments.length == 1 ? Document.class : (Class<?>) arguments[1],
                      settings);
              case "withReadConcern", "withReadPreference" -> proxy;
              default -> throw new UnsupportedOperationException(method.toString());
            });
  }

  private static MongoCollection<?> collection(
      MongoNamespace namespace, Class<?> documents, MongoClientSettings settings) {
    // One operation at a time, so that a find needs no stub of its own.
    Object[][] asked = new Object[1][];
    FindPublisher<?> found =
        namespace.getDatabaseName().equals("config")
            ? find(Flux.fromIterable(StubMetadata.config(namespace.getCollectionName())))
            : find(
                Mono.fromCallable(
                    () -> {
                      encode(asked[0], documents, settings);
                      return FOUND;
                    }));
    UpdateResult updated = UpdateResult.acknowledged(1, 1L, null);
    Publisher<?> inserted = Mono.just(InsertOneResult.acknowledged(null));
    return stub(
        MongoCollection.class,
        (proxy, method, arguments) ->
            switch (method.getName()) {
              case "find" -> {
                asked[0] = arguments;
                yield found;
              }
              case "updateOne" ->
                  Mono.fromCallable(
                      () -> {
                        encode(arguments, documents, settings);
                        return updated;
                      });
              case "insertOne" -> inserted;
              case "getNamespace" -> namespace;
              case "getDocumentClass" -> documents;
              case "getCodecRegistry" -> settings.getCodecRegistry();
              case "getReadPreference" -> ReadPreference.primary();
              case "getReadConcern" -> ReadConcern.DEFAULT;
              case "getWriteConcern" -> WriteConcern.ACKNOWLEDGED;
              case "getTimeout" -> null;
              case "hashCode" -> System.identityHashCode(proxy);
              case "equals" -> proxy == arguments[0];
              default -> throw new UnsupportedOperationException(method.toString());
            });
  }

  /** As the official client must when it is subscribed to, whatever transport is below it. */
  private static void encode(
      Object @Nullable [] arguments, Class<?> documents, MongoClientSettings settings) {
    if (arguments != null) {
      for (Object argument : arguments) {
        if (argument instanceof Bson bson) {
          bson.toBsonDocument(documents, settings.getCodecRegistry());
        }
      }
    }
  }

  /** Options leave it as it is. */
  private static FindPublisher<?> find(Publisher<?> result) {
    Publisher<?> first = result instanceof Mono<?> one ? one : Flux.from(result).next();
    return stub(
        FindPublisher.class,
        (proxy, method, arguments) ->
            switch (method.getName()) {
              case "subscribe" -> {
                subscribe(result, (Subscriber<?>) arguments[0]);
                yield null;
              }
              case "first" -> first;
              default -> proxy;
            });
  }

  @SuppressWarnings("unchecked")
  private static <T> void subscribe(Publisher<?> publisher, Subscriber<T> subscriber) {
    ((Publisher<T>) publisher).subscribe(subscriber);
  }

  private static <T> T stub(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }
}
