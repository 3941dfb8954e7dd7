package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.DistinctPublisher;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.testbed.evidence.LocalHits;
import dev.onehop.testbed.evidence.RouterSampling;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Calls every overload of every method of a collection that reads or writes documents, with and
 * without a session. The shard's profiler shows that a mongos near the owner executes each call.
 */
@ShardedCluster
class EveryOverloadIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final String COLLECTION = "overloads";

  /** The methods for documents. All other methods concern the collection as a whole. */
  private static final Set<String> CRUD =
      Set.of(
          "find",
          "aggregate",
          "distinct",
          "countDocuments",
          "bulkWrite",
          "insertOne",
          "insertMany",
          "deleteOne",
          "deleteMany",
          "replaceOne",
          "updateOne",
          "updateMany",
          "findOneAndDelete",
          "findOneAndReplace",
          "findOneAndUpdate");

  private static final Set<String> WHOLE =
      Set.of(
          "withDocumentClass",
          "withCodecRegistry",
          "withReadPreference",
          "withWriteConcern",
          "withReadConcern",
          "withTimeout",
          "estimatedDocumentCount",
          "watch",
          "mapReduce",
          "drop",
          "createIndex",
          "createIndexes",
          "listIndexes",
          "dropIndex",
          "dropIndexes",
          "createSearchIndex",
          "createSearchIndexes",
          "updateSearchIndex",
          "dropSearchIndex",
          "listSearchIndexes",
          "renameCollection");

  /** This document is on the last shard, which is not near the client. */
  private static final int ID = 250;

  private int fresh = 1000;

  @Test
  void mongosNearOwnerExecutesEveryOverload(SharedCluster cluster)
      throws ReflectiveOperationException {
    cluster.shardCollection(
        COLLECTION,
        new BsonDocument("_id", new BsonInt32(1)),
        List.of(
            new BsonDocument("_id", new BsonInt32(100)),
            new BsonDocument("_id", new BsonInt32(200))));
    try (MongoClient client = OneHop.builder(cluster.url()).client(MongoClient.class);
        ClientSession session = Mono.from(client.startSession()).block(TIMEOUT)) {
      MongoCollection<Document> collection =
          client.getDatabase(cluster.database()).getCollection(COLLECTION);
      Mono.from(collection.insertOne(new Document("_id", ID).append("n", 1))).block(TIMEOUT);
      List<Method> methods = overloads();

      try (RouterSampling sampling = cluster.evidence(COLLECTION).sampleRouters(1)) {
        for (Method method : methods) {
          Flux.from(call(collection, session, method)).collectList().block(TIMEOUT);
        }

        LocalHits served = sampling.besideOwner();
        assertThat(served.fraction()).hasValue(1.0);
        assertThat(served.sampled()).isGreaterThanOrEqualTo(methods.size());
      }
    }
  }

  /**
   * If a later driver has a new method, this test fails until the method is in one of the lists.
   */
  @Test
  void everyMethodIsListed() {
    assertThat(Arrays.stream(MongoCollection.class.getMethods()).map(Method::getName))
        .filteredOn(name -> !name.startsWith("get"))
        .allMatch(name -> CRUD.contains(name) || WHOLE.contains(name));
  }

  private static List<Method> overloads() {
    return Arrays.stream(MongoCollection.class.getMethods())
        .filter(method -> !Modifier.isStatic(method.getModifiers()))
        .filter(method -> CRUD.contains(method.getName()))
        // Without a filter, countDocuments counts the documents of all shards, so no single shard
        // is the owner.
        .filter(
            method ->
                !method.getName().equals("countDocuments")
                    || List.of(method.getParameterTypes()).contains(Bson.class))
        .sorted(Comparator.comparing(Method::toString))
        .toList();
  }

  private Publisher<?> call(
      MongoCollection<Document> collection, ClientSession session, Method method)
      throws ReflectiveOperationException {
    List<Object> arguments = new ArrayList<>();
    boolean filtered = false;
    for (Class<?> type : method.getParameterTypes()) {
      if (type == Bson.class) {
        arguments.add(filtered ? Updates.inc("n", 1) : Filters.eq(ID));
        filtered = true;
      } else {
        arguments.add(argument(method.getName(), session, type));
      }
    }
    Object result = method.invoke(collection, arguments.toArray());
    if (result instanceof FindPublisher<?> find && !filtered) {
      return find.filter(Filters.eq(ID));
    }
    if (result instanceof DistinctPublisher<?> distinct && !filtered) {
      return distinct.filter(Filters.eq(ID));
    }
    return (Publisher<?>) result;
  }

  private Object argument(String method, ClientSession session, Class<?> type)
      throws ReflectiveOperationException {
    if (type == ClientSession.class) {
      return session;
    }
    if (type == Class.class) {
      return method.equals("distinct") ? Integer.class : Document.class;
    }
    if (type == String.class) {
      return "n";
    }
    if (type == Object.class) {
      return method.equals("insertOne") ? new Document("_id", fresh++) : new Document("n", 1);
    }
    if (type == List.class) {
      return list(method);
    }
    return type.getConstructor().newInstance();
  }

  private List<?> list(String method) {
    return switch (method) {
      case "aggregate" -> List.of(new Document("$match", new Document("_id", ID)));
      case "insertMany" -> List.of(new Document("_id", fresh++), new Document("_id", fresh++));
      case "bulkWrite" ->
          List.of(
              new InsertOneModel<>(new Document("_id", fresh++)),
              new ReplaceOneModel<>(Filters.eq(ID), new Document("n", 2)),
              new UpdateOneModel<Document>(Filters.eq(ID), Updates.inc("n", 1)),
              new DeleteOneModel<Document>(Filters.eq(ID + 1)));
      default -> List.of(new Document("$set", new Document("n", 3)));
    };
  }
}
