package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.MongoCommandException;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.client.model.changestream.FullDocumentBeforeChange;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.testbed.Testbed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonMinKey;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.json.JsonMode;
import org.bson.json.JsonWriterSettings;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;

/**
 * With each pipeline, OneHop's streams with {@code fullDocument} return the same events as the
 * driver's streams. The driver's streams are those of a mongos and of a replica set.
 */
@Tag("full")
class LookedUpEventsIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final List<String> SHARDS = List.of("one", "two", "three");
  private static final JsonWriterSettings EXACT =
      JsonWriterSettings.builder().outputMode(JsonMode.EXTENDED).build();

  private static Testbed testbed;
  private static MongoClient mongos;
  private static MongoClient replicaSet;
  private static String replicaSetUrl;
  private static BsonTimestamp begin;
  private static BsonTimestamp end;

  /** Where a stream is read. */
  enum At {
    MONGOS,
    REPLICA_SET
  }

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(NearShards.topology("looked-up-events", 71, 3)).start();
    mongos = MongoClients.create(testbed.url());
    replicaSetUrl = directUrl("one");
    replicaSet = MongoClients.create(replicaSetUrl);
    MongoCollection<Document> kept = sharded("kept");
    sharded("unkept");
    for (String shard : SHARDS) {
      try (MongoClient direct = MongoClients.create(directUrl(shard))) {
        direct
            .getDatabase("lookups")
            .runCommand(
                Document.parse("{collMod: 'kept', changeStreamPreAndPostImages: {enabled: true}}"));
      }
    }
    begin = now();
    for (MongoCollection<Document> each :
        List.of(kept, mongos.getDatabase("lookups").getCollection("unkept"))) {
      write(each.withWriteConcern(WriteConcern.MAJORITY));
    }
    end = now();
    // Each shard writes once more, so that its stream passes this time.
    MongoCollection<Document> later = sharded("later").withWriteConcern(WriteConcern.MAJORITY);
    List.of(0, 20, 40).forEach(id -> later.insertOne(new Document("_id", id)));
  }

  @AfterAll
  static void stop() {
    for (MongoClient each : new MongoClient[] {mongos, replicaSet}) {
      if (each != null) {
        each.close();
      }
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  private static String directUrl(String shard) {
    return "mongodb://"
        + testbed.shardHosts().get(shard).replaceFirst(".*/", "")
        + "/?directConnection=true";
  }

  private static MongoCollection<Document> sharded(String name) {
    testbed.shardCollection("lookups." + name, Numbered.KEY, Numbered.splitAt(20, 40));
    return mongos.getDatabase("lookups").getCollection(name);
  }

  private static BsonTimestamp now() {
    return mongos
        .getDatabase("admin")
        .runCommand(new Document("ping", 1))
        .get("operationTime", BsonTimestamp.class);
  }

  /** Inserts and updates all documents. Some are replaced later, and others are deleted. */
  private static void write(MongoCollection<Document> collection) {
    for (int i = 0; i < 60; i += 5) {
      collection.insertOne(new Document("_id", i).append("n", i).append("price", i));
      collection.updateOne(Filters.eq(i), Updates.set("n", i + 1));
      if (i % 10 == 0) {
        collection.replaceOne(Filters.eq(i), new Document("n", i + 2).append("type", "x"));
        collection.updateOne(Filters.eq(i), Updates.set("n", i + 3));
      } else if (i % 15 == 0) {
        collection.updateOne(Filters.eq(i), Updates.set("n", i + 4));
        collection.deleteOne(Filters.eq(i));
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "MONGOS      | []",
        "MONGOS      | [{$project: {ns: 0}}]",
        "MONGOS      | [{$project: {documentKey: 0}}]",
        "MONGOS      | [{$project: {clusterTime: 0}}]",
        "MONGOS      | [{$unset: ['ns', 'documentKey', 'clusterTime', 'operationType']}]",
        "MONGOS      | [{$project: {operationType: 0}}]",
        "MONGOS      | [{$addFields: {operationType: 'other'}}]",
        "MONGOS      | [{$addFields: {operationType: {$toUpper: '$operationType'}}}]",
        "MONGOS      | [{$set: {ns: 'gone', n: '$fullDocument.n'}}]",
        "MONGOS      | [{$project: {fullDocument: 1}}]",
        "MONGOS      | [{$project: {fullDocument: 0}}]",
        "MONGOS      | [{$match: {operationType: 'update'}}]",
        "MONGOS      | [{$match: {operationType: 'update'}}, {$match: {'fullDocument.n': {$gt: 25}}}]",
        "MONGOS      | [{$match: {'fullDocument.type': 'x'}}]",
        "MONGOS      | [{$match: {fullDocument: null}}]",
        "MONGOS      | [{$match: {$expr: {$gt: ['$$ROOT.fullDocument.n', 30]}}}]",
        "MONGOS      | [{$match: {$jsonSchema: {required: ['fullDocument']}}}]",
        "MONGOS      | [{$match: {$expr: {$eq: [{$getField: 'fullDocument'}, null]}}}]",
        "MONGOS      | [{$match: {'fullDocument.n': -1}}]",
        "MONGOS      | [{$replaceRoot: {newRoot: {_id: '$_id', doc: '$fullDocument'}}}]",
        "MONGOS      | [{$replaceWith: {$mergeObjects: ['$fullDocument', {_id: '$_id'}]}}]",
        "MONGOS      | [{$redact: {$cond: [{$eq: ['$type', 'x']}, '$$PRUNE', '$$DESCEND']}}]",
        "MONGOS      | [{$addFields: {before: '$fullDocumentBeforeChange.n'}}]",
        "MONGOS      | [{$match: {'fullDocumentBeforeChange.n': {$gt: 10}}}]",
        "REPLICA_SET | []",
        "REPLICA_SET | [{$unset: ['ns', 'documentKey', 'clusterTime', 'operationType']}]",
        "REPLICA_SET | [{$match: {'fullDocument.n': {$gt: 5}}}, {$project: {fullDocument: 1}}]",
      })
  void returnsSameEventsAsDriver(At at, String pipeline) {
    List<Document> stages = stages(pipeline);
    assertSameEvents(at, "kept", stages, FullDocumentBeforeChange.DEFAULT);
    assertSameEvents(at, "kept", stages, FullDocumentBeforeChange.REQUIRED);
    assertSameEvents(at, "unkept", stages, FullDocumentBeforeChange.WHEN_AVAILABLE);
  }

  private static void assertSameEvents(
      At at, String name, List<Document> stages, FullDocumentBeforeChange before) {
    List<String> driver = driverEvents(at, name, stages, before);
    assertThat(oneHopEvents(at, name, stages, before)).as("%s %s", name, before).isEqualTo(driver);
    if (before == FullDocumentBeforeChange.REQUIRED && !stages.toString().contains("-1")) {
      assertThat(driver).as("the driver's").isNotEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "DEFAULT  | [{$project: {_id: 0}}]",
        "DEFAULT  | [{$unset: '_id'}]",
        "DEFAULT  | [{$addFields: {_id: 1}}]",
        "DEFAULT  | [{$replaceWith: '$documentKey'}]",
        "DEFAULT  | [{$group: {_id: 1}}]",
        "DEFAULT  | [{$project: {x: {$noSuchOperator: 1}}}]",
        "DEFAULT  | [{$project: {x: {$divide: [1, {$subtract: ['$fullDocument.n', 3]}]}}}]",
        "DEFAULT  | [{$match: {operationType: 'update'}}, {$limit: 1}]",
        "REQUIRED | []",
        "REQUIRED | [{$project: {ns: 0}}]",
      })
  void failsWithSameErrorsAsDriver(FullDocumentBeforeChange before, String pipeline) {
    List<Document> stages = stages(pipeline);
    for (At at : At.values()) {
      MongoCommandException driver =
          catchThrowableOfType(
              MongoCommandException.class, () -> driverEvents(at, "unkept", stages, before));
      MongoCommandException ours =
          catchThrowableOfType(
              MongoCommandException.class, () -> oneHopEvents(at, "unkept", stages, before));
      assertThat(driver).as("the driver's at %s", at).isNotNull();
      assertThat(ours).as("%s", at).isNotNull();
      assertThat(ours.getErrorCode()).as("%s", at).isEqualTo(driver.getErrorCode());
      assertThat(ours.getErrorLabels()).as("%s", at).isEqualTo(driver.getErrorLabels());
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = FullDocument.class,
      names = {"WHEN_AVAILABLE", "REQUIRED"})
  void returnsSameStoredImagesAsDriver(FullDocument wanted) {
    List<Document> stages = stages("[{$project: {documentKey: 0, ns: 0, operationType: 0}}]");
    assertThat(
            oneHopEvents(
                At.MONGOS, "kept", stages, wanted, FullDocumentBeforeChange.WHEN_AVAILABLE))
        .isEqualTo(
            driverEvents(
                At.MONGOS, "kept", stages, wanted, FullDocumentBeforeChange.WHEN_AVAILABLE));
  }

  /**
   * A document moves between its event and the lookup. A lookup on the old shard would not find the
   * document.
   */
  @Test
  void pipelineSeesMovedDocuments() {
    MongoCollection<Document> collection = sharded("moved").withWriteConcern(WriteConcern.MAJORITY);
    BsonTimestamp start = now();
    collection.insertOne(new Document("_id", 5).append("n", 1));
    collection.updateOne(Filters.eq(5), Updates.set("n", 2));
    for (String shard : SHARDS) {
      testbed.moveRange("lookups.moved", new BsonDocument("_id", new BsonMinKey()), shard);
    }
    collection.updateOne(Filters.eq(5), Updates.set("m", 3));
    List<BsonDocument> received =
        Flux.from(
                ShardedChangeStream.builder(testbed.url())
                    .collection("lookups", "moved")
                    .startAtOperationTime(start)
                    .fullDocument(FullDocument.UPDATE_LOOKUP)
                    .pipeline(
                        stages(
                            "[{$match: {'fullDocument.m': 3}}, {$project: {d: '$fullDocument'}}]"))
                    .build()
                    .documents())
            .take(2)
            .<BsonDocument>map(event -> event.getDocument("d"))
            .collectList()
            .block(TIMEOUT);
    assertThat(received)
        .hasSize(2)
        .allMatch(document -> document.equals(BsonDocument.parse("{_id: 5, n: 2, m: 3}")));
  }

  /**
   * A server returns the large documents in several batches. One event is too large for a batch, so
   * the stream reports only its key.
   */
  @Test
  void returnsOrReportsLargeDocuments() {
    MongoCollection<Document> collection = sharded("large").withWriteConcern(WriteConcern.MAJORITY);
    BsonTimestamp start = now();
    for (int i = 0; i < 14; i++) {
      int size = i == 10 ? 9_000_000 : 700_000;
      collection.insertOne(new Document("_id", i).append("filler", "x".repeat(size)));
      collection.updateOne(Filters.eq(i), Updates.set("n", i));
    }
    List<String> received =
        Flux.from(
                ShardedChangeStream.builder(testbed.url())
                    .collection("lookups", "large")
                    .startAtOperationTime(start)
                    .fullDocument(FullDocument.UPDATE_LOOKUP)
                    .pipeline(
                        stages(
                            "[{$match: {operationType: 'update'}},"
                                + " {$set: {second: '$fullDocument', third: '$fullDocument.n'}}]"))
                    .build()
                    .events())
            .filter(event -> !(event instanceof StreamEvent.Progress))
            .take(14)
            .map(
                event ->
                    event instanceof StreamEvent.Change change
                        ? "" + change.document().getInt32("third").getValue()
                        : "no "
                            + ((StreamEvent.TooLarge) event)
                                .event()
                                .getDocument("documentKey")
                                .getInt32("_id")
                                .getValue())
            .collectList()
            .block(TIMEOUT);
    assertThat(received)
        .containsExactly(
            "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "no 10", "11", "12", "13");
  }

  private static List<Document> stages(String pipeline) {
    return Document.parse("{all: " + pipeline + "}").getList("all", Document.class);
  }

  private static List<String> driverEvents(
      At at, String name, List<Document> pipeline, FullDocumentBeforeChange before) {
    return driverEvents(at, name, pipeline, FullDocument.UPDATE_LOOKUP, before);
  }

  private static List<String> driverEvents(
      At at,
      String name,
      List<Document> pipeline,
      FullDocument wanted,
      FullDocumentBeforeChange before) {
    Document options =
        new Document("fullDocument", wanted.getValue()).append("startAtOperationTime", begin);
    if (before != FullDocumentBeforeChange.DEFAULT) {
      options.append("fullDocumentBeforeChange", before.getValue());
    }
    List<Document> stages = new ArrayList<>();
    stages.add(new Document("$changeStream", options));
    stages.addAll(pipeline);
    MongoDatabase database = (at == At.MONGOS ? mongos : replicaSet).getDatabase("lookups");
    List<String> received = new ArrayList<>();
    // Sends raw commands, because the driver's publisher does not show the position of an empty
    // batch.
    BsonDocument cursor =
        database
            .runCommand(
                new Document("aggregate", name)
                    .append("pipeline", stages)
                    .append("cursor", new Document()),
                BsonDocument.class)
            .getDocument("cursor");
    for (String batch = "firstBatch"; ; batch = "nextBatch") {
      cursor.getArray(batch).forEach(event -> received.add(event.asDocument().toJson(EXACT)));
      if (Checkpoint.ofResumeToken(cursor.getDocument("postBatchResumeToken"))
              .clusterTime()
              .compareTo(end)
          > 0) {
        return received;
      }
      cursor =
          database
              .runCommand(
                  new Document("getMore", cursor.getInt64("id").getValue())
                      .append("collection", name)
                      .append("maxTimeMS", 100),
                  BsonDocument.class)
              .getDocument("cursor");
    }
  }

  private static List<String> oneHopEvents(
      At at, String name, List<Document> pipeline, FullDocumentBeforeChange before) {
    return oneHopEvents(at, name, pipeline, FullDocument.UPDATE_LOOKUP, before);
  }

  private static List<String> oneHopEvents(
      At at,
      String name,
      List<Document> pipeline,
      FullDocument wanted,
      FullDocumentBeforeChange before) {
    return Flux.from(
            ShardedChangeStream.builder(at == At.MONGOS ? testbed.url() : replicaSetUrl)
                .collection("lookups", name)
                .pipeline(pipeline)
                .fullDocument(wanted)
                .fullDocumentBeforeChange(before)
                .order(Order.TOTAL)
                .startAfter(Checkpoint.before(begin))
                .progressInterval(Duration.ofMillis(20))
                .build()
                .events())
        .takeUntil(event -> event.checkpoint().clusterTime().compareTo(end) > 0)
        .ofType(StreamEvent.Change.class)
        .map(event -> event.document().toJson(EXACT))
        .collectList()
        .block(TIMEOUT);
  }
}
