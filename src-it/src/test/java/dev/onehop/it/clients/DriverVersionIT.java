package dev.onehop.it.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.client.model.changestream.OperationType;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import dev.onehop.testbed.topology.Shard;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.Document;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs the unchanged build of OneHop with other releases of the driver. The Maven executions for
 * this tag replace the driver release that OneHop was built with.
 */
@Tag("driver-version")
@ShardedCluster
class DriverVersionIT {
  private static final String DATABASE = "DriverVersionIT";

  private static Testbed testbed;

  @BeforeAll
  static void start(SharedCluster cluster) {
    testbed = cluster.testbed();
    System.setProperty("onehop.it.server", testbed.server().mongodVersion());
  }

  @Test
  void usesRequestedDriverVersion() throws ReflectiveOperationException {
    // Reads the version by reflection. Otherwise the compiler would copy the constant of the driver
    // that OneHop is built with.
    Object version =
        Class.forName("com.mongodb.internal.build.MongoDriverVersion")
            .getField("VERSION")
            .get(null);

    assertThat(version).isEqualTo(System.getProperty("onehop.it.driver"));
  }

  @ParameterizedTest
  @EnumSource(names = {"TARGETED", "TARGETED_SYNC", "DIRECT", "DIRECT_SYNC"})
  void operationsAreSentToTheirShards(Mode mode) {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    String name = mode.name();
    Accounts.shard(testbed, DATABASE + "." + name);
    try (MongoClient client = mode.client(testbed.url(), settings -> {}, meters)) {
      MongoCollection<Document> accounts = client.getDatabase(DATABASE).getCollection(name);
      accounts.insertMany(Accounts.documents());

      reads(accounts);
      bulkWrite(accounts);
      transaction(client, accounts);
      changeStream(accounts);
    }
    assertThat(meters.find("onehop.operations").tags("operation", "find").timers())
        .filteredOn(timer -> "owner".equals(timer.getId().getTag("decision")))
        .extracting(timer -> timer.getId().getTag("shard"))
        .containsAll(testbed.topology().shards().stream().map(Shard::name).toList());
  }

  private static void reads(MongoCollection<Document> accounts) {
    for (int id : new int[] {10, 110, 210}) {
      assertThat(accounts.find(Filters.eq(id)).first()).containsEntry("balance", 100);
    }
    assertThat(accounts.find().sort(Sorts.descending("_id")).batchSize(70))
        .extracting(each -> each.getInteger("_id"))
        .containsExactlyElementsOf(
            IntStream.rangeClosed(-299, 0).mapToObj(negative -> -negative).toList());
    assertThat(accounts.countDocuments(Filters.eq("balance", 100))).isEqualTo(300);
  }

  private static void bulkWrite(MongoCollection<Document> accounts) {
    MongoBulkWriteException failure =
        catchThrowableOfType(
            MongoBulkWriteException.class,
            () ->
                accounts.bulkWrite(
                    List.of(
                        new InsertOneModel<>(new Document("_id", 1000)),
                        new InsertOneModel<>(new Document("_id", 10)),
                        new UpdateOneModel<>(Filters.eq(110), Updates.set("balance", 5)),
                        new DeleteOneModel<>(Filters.eq(1))),
                    new BulkWriteOptions().ordered(false)));

    assertThat(failure.getWriteErrors()).extracting(error -> error.getIndex()).containsExactly(1);
    assertThat(failure.getWriteResult().getInsertedCount()).isEqualTo(1);
    assertThat(failure.getWriteResult().getModifiedCount()).isEqualTo(1);
    assertThat(failure.getWriteResult().getDeletedCount()).isEqualTo(1);
  }

  private static void transaction(MongoClient client, MongoCollection<Document> accounts) {
    try (ClientSession session = client.startSession()) {
      session.startTransaction();
      accounts.updateOne(session, Filters.eq(20), Updates.inc("balance", -7));
      accounts.updateOne(session, Filters.eq(220), Updates.inc("balance", 7));
      session.commitTransaction();
      session.startTransaction();
      accounts.deleteOne(session, Filters.eq(20));
      session.abortTransaction();

      assertThat(accounts.find(session, Filters.in("_id", 20, 220)))
          .extracting(each -> each.getInteger("balance"))
          .containsExactlyInAnyOrder(93, 107);
    }
  }

  private static void changeStream(MongoCollection<Document> accounts) {
    try (MongoChangeStreamCursor<ChangeStreamDocument<Document>> stream =
        accounts.watch().cursor()) {
      accounts.insertOne(new Document("_id", 2000));
      accounts.deleteOne(Filters.eq(50));

      assertThat(stream.next().getOperationType()).isEqualTo(OperationType.INSERT);
      assertThat(stream.next().getOperationType()).isEqualTo(OperationType.DELETE);
    }
  }
}
