package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.onehop.routing.internal.direct.DirectRouter;
import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A request breaks the server's connection each time. The request itself may be the cause, so it is
 * sent only a few times. If the driver retries it, the number of times is the same as without
 * OneHop. Otherwise the number is the same as with a mongos.
 */
class BrokenRepliesTest {
  private static final int WIRE_6_0 = 17;
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new);

  @AfterEach
  void close() {
    cluster.close();
  }

  private enum Operation {
    FIND("find"),
    AGGREGATE("aggregate"),
    INSERT("insert"),
    UPDATE_MANY("update"),
    GET_MORE("getMore");

    private final String command;

    Operation(String command) {
      this.command = command;
    }
  }

  /**
   * The number of times that the shard receives an operation that breaks its connection each time.
   */
  @ParameterizedTest
  @CsvSource({
    "FIND, '', 2",
    "FIND, retryReads=false, 3",
    "AGGREGATE, '', 2",
    "AGGREGATE, retryReads=false, 3",
    "INSERT, '', 2",
    "INSERT, retryWrites=false, 1",
    "UPDATE_MANY, '', 1",
    "GET_MORE, '', 1",
  })
  void limitsAttemptsOfOperation(Operation operation, String options, int times) {
    for (boolean sync : List.of(true, false)) {
      int before = cluster.seen("s1", operation.command).size();
      OneHop.Builder builder =
          OneHop.builder("mongodb://" + cluster.address("config") + "/?" + options)
              .routing(RoutingMode.DIRECT);
      Throwable failure = sync ? sync(builder, operation) : reactive(builder, operation);

      assertThat(failure).as("sync: %s", sync).isNotNull();
      assertThat(cluster.seen("s1", operation.command))
          .as("sync: %s", sync)
          .hasSize(before + times);
    }
  }

  private void breakConnectionOn(Operation operation) {
    cluster.script(
        "s1",
        command -> {
          String name = command.getFirstKey();
          return name.equals(operation.command)
              ? ScriptedCluster.HANG_UP
              : name.equals("find") && operation == Operation.GET_MORE
                  ? ScriptedCluster.openCursor(7)
                  : null;
        });
  }

  private Throwable sync(OneHop.Builder builder, Operation operation) {
    try (com.mongodb.client.MongoClient client =
        builder.client(com.mongodb.client.MongoClient.class)) {
      var collection = client.getDatabase("it").getCollection("c");
      assertThat(collection.find(Filters.eq(-1)).first()).isNotNull();
      breakConnectionOn(operation);
      return catchThrowable(
          () -> {
            switch (operation) {
              case FIND -> collection.find(Filters.eq(1)).first();
              case AGGREGATE -> collection.aggregate(pipeline()).first();
              case INSERT -> collection.insertOne(new Document("_id", 1));
              case UPDATE_MANY -> collection.updateMany(Filters.eq(1), Updates.set("x", 1));
              case GET_MORE -> collection.find(Filters.eq(1)).into(new ArrayList<>());
            }
          });
    } finally {
      cluster.script("s1", command -> null);
    }
  }

  private Throwable reactive(OneHop.Builder builder, Operation operation) {
    try (com.mongodb.reactivestreams.client.MongoClient client =
        builder.client(com.mongodb.reactivestreams.client.MongoClient.class)) {
      var collection = client.getDatabase("it").getCollection("c");
      assertThat(Mono.from(collection.find(Filters.eq(-1)).first()).block(TIMEOUT)).isNotNull();
      breakConnectionOn(operation);
      return catchThrowable(
          () ->
              Flux.from(
                      switch (operation) {
                        case FIND -> collection.find(Filters.eq(1)).first();
                        case AGGREGATE -> collection.aggregate(pipeline());
                        case INSERT -> collection.insertOne(new Document("_id", 1));
                        case UPDATE_MANY ->
                            collection.updateMany(Filters.eq(1), Updates.set("x", 1));
                        case GET_MORE -> collection.find(Filters.eq(1));
                      })
                  .blockLast(TIMEOUT));
    } finally {
      cluster.script("s1", command -> null);
    }
  }

  private static List<Document> pipeline() {
    return List.of(Document.parse("{$match: {_id: 1}}"));
  }

  /**
   * These commands come from no driver, so no driver retries them. The stand-in router and change
   * streams send such commands.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{find: 'c', $db: 'it', filter: {_id: 1}} | find | 3",
        "{aggregate: 'c', $db: 'it', pipeline: [{$match: {_id: 1}}], cursor: {}} | aggregate | 3",
        "{insert: 'c', $db: 'it', documents: [{_id: 1}], txnNumber: {$numberLong: '1'}} | insert | 3",
        "{insert: 'c', $db: 'it', documents: [{_id: 1}]} | insert | 1"
      })
  void limitsAttemptsWithoutDriver(String command, String name, int times) {
    assertThat(cluster.execute("{find: 'c', $db: 'it', filter: {_id: -1}}")).isNotNull();
    cluster.script("s1", each -> each.getFirstKey().equals(name) ? ScriptedCluster.HANG_UP : null);

    assertThat(cluster.execute(command).getNumber("ok").intValue()).isZero();

    assertThat(cluster.seen("s1", name)).hasSize(times);
  }
}
