package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.MongoIterable;
import com.mongodb.client.model.Accumulators;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Filters;
import dev.onehop.it.clients.Mode;
import dev.onehop.it.clients.RoutedModes;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.BeforeAll;

/** Cases of direct mode only. {@link EveryModeIT} has the cases of all modes. */
@ShardedCluster
class DirectModeIT {
  private static final Duration MONGOS_REFRESH_LIMIT = Duration.ofSeconds(45);
  private static final String NAME = "direct";

  private static SharedCluster cluster;
  private static String configServers;

  @BeforeAll
  static void load(SharedCluster shared) {
    cluster = shared;
    configServers = "mongodb://" + cluster.testbed().configServers().replaceFirst(".*/", "");
    cluster.shardCollection(NAME, Numbered.KEY, Numbered.splitAt(100, 200));
    try (MongoClient plain = MongoClients.create(cluster.url())) {
      collection(plain).insertMany(Numbered.documents(300));
    }
  }

  @RoutedModes(mode = RoutingMode.DIRECT)
  void closedClientReleasesBuffers(Mode mode) {
    String shard = cluster.testbed().shardHosts().get("shard-1").replaceFirst(".*/", "");
    try (LeakWatch leaks = LeakWatch.start();
        MongoClient onShard = MongoClients.create("mongodb://" + shard)) {
      for (int i = 0; i < 5; i++) {
        String comment = mode.id() + i;
        CompletableFuture<?> pendingFind;
        try (MongoClient closed = mode.client(cluster.url())) {
          assertThat(read(closed, 7)).containsEntry("n", 7);
          pendingFind =
              CompletableFuture.runAsync(
                  () ->
                      collection(closed)
                          .find(Filters.and(Filters.eq(7), Filters.where("sleep(1000) || true")))
                          .comment(comment)
                          .first());
          await().until(() -> isRunning(onShard, comment));
        }
        await().until(pendingFind::isDone);
      }
      assertThat(leaks.leaks()).isEmpty();
    }
  }

  private static boolean isRunning(MongoClient server, String comment) {
    Document command = new Document("currentOp", 1).append("command.comment", comment);
    return !server
        .getDatabase("admin")
        .runCommand(command)
        .getList("inprog", Document.class)
        .isEmpty();
  }

  /**
   * The URI names config servers only. Direct mode refuses commands for a mongos, and executes
   * other commands.
   */
  @RoutedModes(mode = RoutingMode.DIRECT)
  void rejectsMongosCommandsWithoutMongos(Mode mode, MongoClient client) {
    try (MongoClient onConfigServers = mode.client(configServers);
        ClientSession session = onConfigServers.startSession()) {
      MongoCollection<Document> same = collection(onConfigServers);
      assertThat(read(onConfigServers, 5)).containsEntry("n", 5);
      for (List<Bson> pipeline :
          List.<List<Bson>>of(
              List.of(Aggregates.match(Filters.eq(5)), Aggregates.out("elsewhere")),
              List.of(
                  Aggregates.match(Filters.eq(5)), Aggregates.lookup("other", "n", "_id", "found")),
              List.of(Aggregates.group("$even", Accumulators.sum("sum", "$n"))))) {
        assertThatThrownBy(() -> all(same.aggregate(pipeline)))
            .isInstanceOf(MongoCommandException.class)
            .hasMessageContaining("mongos");
      }
      assertThatThrownBy(same::drop).hasMessageContaining("the command drop");
      assertThatThrownBy(() -> all(same.watch())).hasMessageContaining("$changeStream");
      session.startTransaction();
      assertThatThrownBy(() -> all(same.find(session)))
          .isInstanceOf(MongoException.class)
          .hasMessageContaining("a transaction");
    }
    assertThat(read(client, 5)).containsEntry("n", 5);
  }

  @RoutedModes(mode = RoutingMode.DIRECT)
  void rejectsClusterCommandsOnConfigServers(Mode mode, MongoClient client) {
    try (MongoClient onConfigServers = mode.client(configServers)) {
      MongoDatabase admin = onConfigServers.getDatabase("admin");
      assertThat(admin.runCommand(new Document("ping", 1))).containsEntry("ok", 1.0);
      for (String command :
          List.of("replSetGetStatus", "currentOp", "top", "listDatabases", "usersInfo")) {
        assertThatThrownBy(() -> admin.runCommand(new Document(command, 1)))
            .isInstanceOf(MongoCommandException.class)
            .hasMessageContaining("the command " + command + " on admin")
            .hasMessageContaining("config servers");
      }
      MongoDatabase config = onConfigServers.getDatabase("config");
      for (String collection : List.of("shards", "system.sessions")) {
        assertThatThrownBy(() -> config.getCollection(collection).countDocuments())
            .isInstanceOf(MongoCommandException.class)
            .hasMessageContaining("config servers");
      }
    }
    // A mongos lists the databases of the shards that it knows, and admin and config from the
    // config servers. If the mongos started before the shards were added, it knows them only after
    // half a minute.
    await()
        .atMost(MONGOS_REFRESH_LIMIT)
        .untilAsserted(
            () ->
                assertThat(all(client.listDatabaseNames()))
                    .contains(cluster.database(), "admin", "config")
                    .doesNotContain("local"));
    assertThat(client.getDatabase("config").getCollection("shards").countDocuments()).isEqualTo(3);
    assertThat(read(client, 5)).containsEntry("n", 5);
  }

  @RoutedModes(mode = RoutingMode.DIRECT)
  void mongosExecutesExplain(MongoClient client) {
    Document one = collection(client).find(Filters.eq(7)).explain();
    assertThat(plan(one)).containsEntry("stage", "SINGLE_SHARD");
    assertThat(plan(one).getList("shards", Document.class)).hasSize(1);
    Document several = collection(client).find(Filters.gte("n", 7)).explain();
    assertThat(plan(several)).containsEntry("stage", "SHARD_MERGE");
    assertThat(plan(several).getList("shards", Document.class)).hasSize(3);
  }

  private static Document plan(Document explained) {
    return explained.get("queryPlanner", Document.class).get("winningPlan", Document.class);
  }

  private static MongoCollection<Document> collection(MongoClient client) {
    return client.getDatabase(cluster.database()).getCollection(NAME);
  }

  private static Document read(MongoClient client, int id) {
    return collection(client).find(Filters.eq(id)).first();
  }

  private static <T> List<T> all(MongoIterable<T> found) {
    return found.into(new ArrayList<>());
  }
}
