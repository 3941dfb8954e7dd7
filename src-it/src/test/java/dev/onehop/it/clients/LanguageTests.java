package dev.onehop.it.clients;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoClientSettings;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.client.model.changestream.OperationType;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the driver of another JVM language over a router. */
@ShardedCluster
abstract class LanguageTests {
  private static SharedCluster cluster;

  /** A client of the tested driver, with one collection. */
  interface Client extends AutoCloseable {
    void insertMany(List<Document> documents);

    List<Document> find(Bson filter);

    BulkWriteResult bulkWrite(List<WriteModel<Document>> writes);

    /**
     * Updates the documents of these filters in a transaction.
     *
     * @return the operation time of the session after the transaction
     */
    BsonTimestamp transaction(boolean commit, Bson update, Bson... filters);

    /** Returns the first {@code count} change events from a time on. */
    List<ChangeStreamDocument<Document>> changes(BsonTimestamp from, int count);

    @Override
    void close();
  }

  abstract Client open(MongoClientSettings settings, String database, String collection);

  @BeforeAll
  static void start(SharedCluster shared) {
    cluster = shared;
  }

  @Timeout(60)
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void operationsAreSentToTheirShards(RoutingMode mode) {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    Accounts.shard(cluster.testbed(), cluster.namespace(mode.name()));
    try (OneHop router = OneHop.builder(cluster.url()).routing(mode).meterRegistry(meters).build();
        Client accounts = open(router.clientSettings(), cluster.database(), mode.name())) {
      accounts.insertMany(Accounts.documents());
      for (int id : new int[] {10, 110, 210}) {
        assertThat(accounts.find(Filters.eq(id)))
            .containsExactly(new Document("_id", id).append("balance", 100));
      }
      assertThat(accounts.find(Filters.gte("_id", 0))).hasSize(300);

      BulkWriteResult result =
          accounts.bulkWrite(
              List.of(
                  new InsertOneModel<>(new Document("_id", -1)),
                  new UpdateOneModel<>(Filters.eq(110), Updates.set("balance", 5)),
                  new DeleteOneModel<>(Filters.eq(299))));
      assertThat(result.getInsertedCount()).isEqualTo(1);
      assertThat(result.getModifiedCount()).isEqualTo(1);
      assertThat(result.getDeletedCount()).isEqualTo(1);

      BsonTimestamp before = accounts.transaction(true, Updates.inc("balance", 3), Filters.eq(20));
      accounts.transaction(true, Updates.inc("balance", 7), Filters.eq(20), Filters.eq(220));
      accounts.transaction(false, Updates.inc("balance", 1), Filters.eq(20));
      assertThat(accounts.find(Filters.in("_id", 20, 220)))
          .extracting(each -> each.getInteger("balance"))
          .containsExactlyInAnyOrder(110, 107);
      accounts.insertMany(List.of(new Document("_id", 1000)));
      assertThat(accounts.changes(new BsonTimestamp(before.getTime(), before.getInc() + 1), 3))
          .extracting(ChangeStreamDocument::getOperationType)
          .containsExactly(OperationType.UPDATE, OperationType.UPDATE, OperationType.INSERT);
    }
    assertThat(meters.find("onehop.operations").tags("operation", "find").timers())
        .filteredOn(timer -> "owner".equals(timer.getId().getTag("decision")))
        .extracting(timer -> timer.getId().getTag("shard"))
        .containsAll(cluster.shards());
  }
}
