package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoException;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * The connection to a server breaks during an operation. The application receives the same
 * exception with the same labels as without OneHop, and the server's name. The server is a mongos
 * in targeted mode, and a shard in direct mode.
 */
class BrokenConnectionTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;
  private static final String NO_RETRIES = "retryWrites=false&retryReads=false";

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);

  @AfterEach
  void close() {
    cluster.close();
  }

  /** A driver's client. */
  private interface Client extends AutoCloseable {
    Object find();

    Object insert();

    Object updateMany();

    Object insertInTransaction();

    @Override
    void close();
  }

  private enum Driver {
    SYNC {
      @Override
      Client plain(String uri) {
        return new Sync(com.mongodb.client.MongoClients.create(uri));
      }

      @Override
      Client routed(OneHop.Builder builder) {
        return new Sync(builder.client(com.mongodb.client.MongoClient.class));
      }
    },
    REACTIVE {
      @Override
      Client plain(String uri) {
        return new Reactive(com.mongodb.reactivestreams.client.MongoClients.create(uri));
      }

      @Override
      Client routed(OneHop.Builder builder) {
        return new Reactive(builder.client(com.mongodb.reactivestreams.client.MongoClient.class));
      }
    };

    abstract Client plain(String uri);

    abstract Client routed(OneHop.Builder builder);
  }

  private enum Operation {
    FIND("find"),
    INSERT("insert"),
    UPDATE_MANY("update"),
    INSERT_IN_TRANSACTION("insert");

    private final String command;

    Operation(String command) {
      this.command = command;
    }

    Object run(Client client) {
      return switch (this) {
        case FIND -> client.find();
        case INSERT -> client.insert();
        case UPDATE_MANY -> client.updateMany();
        case INSERT_IN_TRANSACTION -> client.insertInTransaction();
      };
    }
  }

  @ParameterizedTest
  @CsvSource({
    "SYNC, TARGETED, FIND",
    "SYNC, TARGETED, INSERT",
    "SYNC, TARGETED, UPDATE_MANY",
    "SYNC, TARGETED, INSERT_IN_TRANSACTION",
    "SYNC, DIRECT, INSERT",
    "SYNC, DIRECT, INSERT_IN_TRANSACTION",
    "REACTIVE, TARGETED, FIND",
    "REACTIVE, TARGETED, INSERT",
    "REACTIVE, TARGETED, UPDATE_MANY",
    "REACTIVE, TARGETED, INSERT_IN_TRANSACTION",
    "REACTIVE, DIRECT, INSERT",
    "REACTIVE, DIRECT, INSERT_IN_TRANSACTION"
  })
  void throwsSameExceptionAsPlainDriver(Driver driver, RoutingMode mode, Operation operation) {
    Throwable plain;
    try (Client client = driver.plain("mongodb://" + cluster.address("m1") + "/?" + NO_RETRIES)) {
      plain = breakDuring("m1", client, operation);
    }
    // Direct mode sends a transaction to the mongos m0, not to the shard.
    String server =
        mode == RoutingMode.TARGETED
            ? "m1"
            : operation == Operation.INSERT_IN_TRANSACTION ? "m0" : "s1";
    try (Client client = driver.routed(builder(mode, NO_RETRIES))) {
      assertThat(breakDuring(server, client, operation))
          .hasSameClassAs(plain)
          .hasStackTraceContaining(cluster.address(server).toString())
          .asInstanceOf(InstanceOfAssertFactories.type(MongoException.class))
          .extracting(MongoException::getErrorLabels)
          .isEqualTo(((MongoException) plain).getErrorLabels());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "SYNC, TARGETED, FIND",
    "SYNC, TARGETED, INSERT",
    "SYNC, DIRECT, FIND",
    "SYNC, DIRECT, INSERT",
    "REACTIVE, TARGETED, FIND",
    "REACTIVE, TARGETED, INSERT",
    "REACTIVE, DIRECT, FIND",
    "REACTIVE, DIRECT, INSERT"
  })
  void retriesRetryableOperations(Driver driver, RoutingMode mode, Operation operation) {
    try (Client client = driver.routed(builder(mode, ""))) {
      assertThat(breakDuring(mode == RoutingMode.TARGETED ? "m1" : "s1", client, operation))
          .isNull();
    }
  }

  private OneHop.Builder builder(RoutingMode mode, String options) {
    OneHop.Builder builder =
        OneHop.builder("mongodb://" + cluster.address("m0") + "/?" + options).routing(mode);
    return mode == RoutingMode.TARGETED
        ? builder
            .shardRouters("s0", cluster.address("m0").toString())
            .shardRouters("s1", cluster.address("m1").toString())
        : builder;
  }

  /** The failure of an operation whose server breaks the connection and can be reached again. */
  private Throwable breakDuring(String server, Client client, Operation operation) {
    assertThat(client.find()).isNotNull();
    int before = cluster.seen(server, operation.command).size();
    cluster.hold(server, command -> command.getFirstKey().equals(operation.command));
    CompletableFuture<Object> running = CompletableFuture.supplyAsync(() -> operation.run(client));
    await().until(() -> cluster.seen(server, operation.command).size() > before);
    cluster.stop(server);
    cluster.release();
    cluster.start(server);
    return running.handle((done, failure) -> failure == null ? null : failure.getCause()).join();
  }

  private static final BsonDocument FIVE = BsonDocument.parse("{_id: 5}");

  private record Sync(com.mongodb.client.MongoClient client) implements Client {
    private com.mongodb.client.MongoCollection<Document> collection() {
      return client.getDatabase("it").getCollection("c");
    }

    @Override
    public Object find() {
      return collection().find(FIVE).first();
    }

    @Override
    public Object insert() {
      return collection().insertOne(new Document("_id", 5));
    }

    @Override
    public Object updateMany() {
      return collection().updateMany(Filters.eq(5), Updates.set("x", 1));
    }

    @Override
    public Object insertInTransaction() {
      try (com.mongodb.client.ClientSession session = client.startSession()) {
        session.startTransaction();
        return collection().insertOne(session, new Document("_id", 5));
      }
    }

    @Override
    public void close() {
      client.close();
    }
  }

  private record Reactive(com.mongodb.reactivestreams.client.MongoClient client) implements Client {
    private com.mongodb.reactivestreams.client.MongoCollection<Document> collection() {
      return client.getDatabase("it").getCollection("c");
    }

    private static <T> T run(Publisher<T> operation) {
      return Mono.from(operation).block(TIMEOUT);
    }

    @Override
    public Object find() {
      return run(collection().find(FIVE).first());
    }

    @Override
    public Object insert() {
      return run(collection().insertOne(new Document("_id", 5)));
    }

    @Override
    public Object updateMany() {
      return run(collection().updateMany(Filters.eq(5), Updates.set("x", 1)));
    }

    @Override
    public Object insertInTransaction() {
      try (com.mongodb.reactivestreams.client.ClientSession session = run(client.startSession())) {
        session.startTransaction();
        return run(collection().insertOne(session, new Document("_id", 5)));
      }
    }

    @Override
    public void close() {
      client.close();
    }
  }
}
