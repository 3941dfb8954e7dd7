package dev.onehop.it.application;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.ClientSessionOptions;
import com.mongodb.ConnectionString;
import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoWriteException;
import com.mongodb.ReadConcern;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.gridfs.GridFSBucket;
import com.mongodb.client.gridfs.GridFSBuckets;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.client.model.changestream.OperationType;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandSucceededEvent;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.Topology;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.Document;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.query.Criteria;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.data.mongodb.core.query.Update;

/**
 * The scenarios of {@link DropInIT} on the synchronous driver: the official client and ours, with
 * the same code.
 */
@ParameterizedClass
@EnumSource
class BlockingDropInIT {
  private static final int PER_SHARD = 100;
  private static final int WRITE_CONFLICT = 112;
  private static final int DUPLICATE_KEY = 11000;

  private static Testbed testbed;
  private static int collections;

  @Parameter private ClientKind kind;

  private final ConcurrentLinkedQueue<String> succeeded = new ConcurrentLinkedQueue<>();
  private MongoClient client;
  private MongoDatabase database;

  enum ClientKind {
    OFFICIAL {
      @Override
      MongoClient connect(String url, Consumer<MongoClientSettings.Builder> change) {
        MongoClientSettings.Builder settings =
            MongoClientSettings.builder().applyConnectionString(new ConnectionString(url));
        change.accept(settings);
        return MongoClients.create(settings.build());
      }
    },
    DIRECT {
      @Override
      MongoClient connect(String url, Consumer<MongoClientSettings.Builder> change) {
        return OneHop.builder(url)
            .applyToClientSettings(change)
            .routing(RoutingMode.DIRECT)
            .syncClient();
      }
    };

    abstract MongoClient connect(String url, Consumer<MongoClientSettings.Builder> change);
  }

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(Topology.named("us-2014")).start();
    testbed.shardCollection(
        Application.DATABASE + ".orders",
        new BsonDocument("customer", new BsonInt32(1)),
        List.of(
            new BsonDocument("customer", new BsonString("h")),
            new BsonDocument("customer", new BsonString("q"))));
  }

  @AfterAll
  static void stop() {
    if (testbed != null) {
      testbed.close();
    }
  }

  @BeforeEach
  void connect() {
    client = connected();
    database = client.getDatabase(Application.DATABASE);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void springDataRepository() {
    try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
      context.registerBean(
          "client", MongoClient.class, () -> client, bean -> bean.setDestroyMethodName(""));
      context.register(BlockingApplication.class);
      context.refresh();
      BlockingOrderRepository orders = context.getBean(BlockingOrderRepository.class);
      MongoTemplate template = context.getBean(MongoTemplate.class);
      orders.deleteAll();

      orders.saveAll(
          List.of(
              new Order("1", "anna", 10, List.of("tea")),
              new Order("2", "karl", 20, List.of("tea", "milk")),
              new Order("3", "zoe", 30, List.of("milk")),
              new Order("4", "karl", 40, List.of())));
      orders.save(new Order("1", "anna", 11, List.of("tea", "sugar")));
      Order inserted = orders.insert(new Order(null, "zoe", 5, List.of()));

      assertThat(inserted.id()).isNotNull();
      assertThat(orders.findById("1").orElseThrow().total()).isEqualTo(11);
      assertThat(orders.findByCustomer("karl"))
          .extracting(Order::total)
          .containsExactlyInAnyOrder(20, 40);
      assertThat(orders.findByTotalGreaterThanOrderByTotal(10))
          .extracting(Order::total)
          .containsExactly(11, 20, 30, 40);
      assertThat(orders.withItem("karl", "milk")).extracting(Order::id).containsExactly("2");
      assertThat(orders.countByCustomer("zoe")).isEqualTo(2);
      assertThat(orders.existsByCustomer("nobody")).isFalse();
      assertThat(orders.count()).isEqualTo(5);
      assertThat(orders.totalOf("karl").total()).isEqualTo(60);
      assertThat(orders.findAndAddToTotalByCustomer("karl", 1)).isEqualTo(2);
      assertThat(orders.totalOf("karl").total()).isEqualTo(62);
      assertThat(orders.deleteByCustomer("karl")).isEqualTo(2);
      assertThat(orders.count()).isEqualTo(3);

      Query zoe = Query.query(Criteria.where("customer").is("zoe").and("id").is("3"));
      Order before = template.findAndModify(zoe, new Update().inc("total", 3), Order.class);
      assertThat(before.total()).isEqualTo(30);
      assertThat(template.findOne(zoe, Order.class).total()).isEqualTo(33);
      assertThat(template.findDistinct("customer", Order.class, String.class))
          .containsExactly("anna", "zoe");
      assertThat(database.getCollection("orders").listIndexes())
          .extracting(index -> index.getString("name"))
          .contains("_id_", "customer_1", "total");
    }
  }

  @Test
  void gridFs() {
    GridFSBucket bucket = GridFSBuckets.create(database, "blocking" + ++collections);
    byte[] content = new byte[3 * 1024 * 1024 + 7];
    new Random(1).nextBytes(content);

    ObjectId id = bucket.uploadFromStream("large", new ByteArrayInputStream(content));
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    bucket.downloadToStream(id, read);

    assertThat(read.toByteArray()).isEqualTo(content);
    assertThat(bucket.find(Filters.eq("filename", "large")).first().getLength())
        .isEqualTo(content.length);
    bucket.rename(id, "renamed");
    read.reset();
    bucket.downloadToStream("renamed", read);
    assertThat(read.toByteArray()).isEqualTo(content);
    bucket.delete(id);
    assertThat(bucket.find()).isEmpty();
    bucket.drop();
  }

  @Test
  void committedTransactionOfOneShard() {
    MongoCollection<Document> accounts = accounts();
    MongoCollection<Document> asSeenByOthers = accounts.withReadConcern(ReadConcern.LOCAL);
    try (ClientSession session = client.startSession()) {
      session.startTransaction();
      accounts.updateOne(session, Filters.eq(250), Updates.inc("balance", -10));
      accounts.updateOne(session, Filters.eq(251), Updates.inc("balance", 10));

      assertThat(balance(accounts.find(session, Filters.eq(250)).first())).isEqualTo(90);
      assertThat(balance(asSeenByOthers.find(Filters.eq(250)).first())).isEqualTo(100);
      assertThat(accounts.countDocuments(session, Filters.gt("balance", 100))).isEqualTo(1);
      session.commitTransaction();
      session.commitTransaction(); // A commit may be said again.

      assertThat(balance(accounts.find(session, Filters.eq(250)).first())).isEqualTo(90);
      assertThat(balance(accounts.find(Filters.eq(251)).first())).isEqualTo(110);
    }
  }

  @Test
  void transactionsOverSeveralShards() {
    MongoCollection<Document> accounts = accounts();
    TransactionOptions options =
        TransactionOptions.builder()
            .readConcern(ReadConcern.SNAPSHOT)
            .writeConcern(WriteConcern.MAJORITY)
            .build();
    try (ClientSession session = client.startSession()) {
      String result =
          session.withTransaction(
              () -> {
                for (int id : new int[] {10, 110, 210}) {
                  assertThat(
                          accounts
                              .updateOne(session, Filters.eq(id), Updates.inc("balance", id))
                              .getModifiedCount())
                      .isEqualTo(1);
                }
                return "done";
              },
              options);
      assertThat(result).isEqualTo("done");
      session.startTransaction();
      accounts.insertMany(session, List.of(new Document("_id", 1001), new Document("_id", -1)));
      accounts.deleteOne(session, Filters.eq(3));
      session.abortTransaction();

      assertThat(accounts.find(session, Filters.in("_id", 10, 110, 210, 1001, -1, 3)))
          .extracting(each -> each.getInteger("balance"))
          .containsExactlyInAnyOrder(100, 110, 210, 310);
    }
  }

  @Test
  void writeConflictIsTransient() {
    MongoCollection<Document> accounts = accounts();
    try (ClientSession first = client.startSession();
        ClientSession second = client.startSession()) {
      first.startTransaction();
      accounts.updateOne(first, Filters.eq(150), Updates.inc("balance", 1));
      second.startTransaction();

      MongoCommandException conflict =
          catchThrowableOfType(
              MongoCommandException.class,
              () -> accounts.updateOne(second, Filters.eq(150), Updates.inc("balance", 1)));
      assertThat(conflict.getErrorCode()).isEqualTo(WRITE_CONFLICT);
      assertThat(conflict.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL)).isTrue();
      second.abortTransaction();
      first.commitTransaction();
    }
  }

  @Test
  void causalAndSnapshotSessions() {
    MongoCollection<Document> accounts = accounts();
    try (ClientSession session = client.startSession()) {
      for (int id = 500; id < 520; id++) {
        accounts.insertOne(session, new Document("_id", id));
        assertThat(accounts.find(session, Filters.eq(id)).first()).isNotNull();
      }
    }
    try (ClientSession snapshot =
        client.startSession(ClientSessionOptions.builder().snapshot(true).build())) {
      long before = accounts.countDocuments(snapshot);
      accounts.insertOne(new Document("_id", 600));
      assertThat(accounts.countDocuments(snapshot)).isEqualTo(before);
    }
  }

  @Test
  void bulkErrorsCarryTheCallersIndexes() {
    MongoCollection<Document> accounts = accounts();
    List<Document> documents =
        IntStream.of(1000, 10, -1, 210, -2).mapToObj(id -> new Document("_id", id)).toList();
    MongoBulkWriteException failure =
        catchThrowableOfType(
            MongoBulkWriteException.class,
            () -> accounts.insertMany(documents, new InsertManyOptions().ordered(false)));

    assertThat(failure.getWriteErrors()).extracting(e -> e.getIndex()).containsExactly(1, 3);
    assertThat(failure.getWriteResult().getInsertedCount()).isEqualTo(3);
    assertThat(failure.getWriteErrors()).allMatch(error -> error.getCode() == DUPLICATE_KEY);
  }

  @Test
  void cursorsOverSeveralBatchesAndShards() {
    MongoCollection<Document> accounts = accounts();
    List<Integer> read = new ArrayList<>();
    try (MongoCursor<Document> cursor =
        accounts.find().sort(new Document("_id", 1)).batchSize(7).iterator()) {
      while (cursor.hasNext()) {
        read.add(cursor.next().getInteger("_id"));
        if (read.size() == 50) {
          assertThat(balance(accounts.find(Filters.eq(299)).first())).isEqualTo(100);
        }
      }
    }
    assertThat(read).containsExactlyElementsOf(IntStream.range(0, 300).boxed().toList());
  }

  @Test
  void changeStreamGoesOnWhereItWasLeft() {
    MongoCollection<Document> accounts = accounts();
    List<ChangeStreamDocument<Document>> seen = new ArrayList<>();
    BsonDocument token;
    try (MongoChangeStreamCursor<ChangeStreamDocument<Document>> stream =
        accounts.watch().cursor()) {
      for (int i = 0; i < 5; i++) {
        accounts.insertOne(new Document("_id", 300 + i));
        accounts.updateOne(Filters.eq(PER_SHARD * (i % 3)), Updates.inc("balance", 1));
      }
      for (int i = 0; i < 6; i++) {
        seen.add(stream.next());
      }
      token = stream.getResumeToken();
    }
    accounts.deleteOne(Filters.eq(250));
    try (MongoChangeStreamCursor<ChangeStreamDocument<Document>> stream =
        accounts.watch().resumeAfter(token).cursor()) {
      while (seen.size() < 11) {
        seen.add(stream.next());
      }
      assertThat(stream.available()).isZero();
      assertThat(stream.tryNext()).isNull();
    }

    assertThat(seen)
        .filteredOn(event -> event.getOperationType() == OperationType.INSERT)
        .extracting(event -> event.getDocumentKey().getNumber("_id").intValue())
        .containsExactly(300, 301, 302, 303, 304);
    assertThat(seen)
        .filteredOn(event -> event.getOperationType() == OperationType.UPDATE)
        .hasSize(5);
    assertThat(seen.get(10).getOperationType()).isEqualTo(OperationType.DELETE);
  }

  @Test
  void commandListenersAreCalled() {
    MongoCollection<Document> accounts = accounts();
    succeeded.clear();

    accounts.find(Filters.eq(1)).first();
    accounts.updateOne(Filters.eq(201), Updates.inc("balance", 1));

    assertThat(succeeded).containsExactly("find", "update");
  }

  @Test
  void errorsOfTheServer() {
    MongoCollection<Document> accounts = accounts();

    assertThat(
            catchThrowableOfType(
                    MongoWriteException.class, () -> accounts.insertOne(new Document("_id", 1)))
                .getCode())
        .isEqualTo(DUPLICATE_KEY);
    assertThatThrownBy(() -> accounts.find(Filters.eq("$bad", 1)).first())
        .isInstanceOf(MongoException.class);
    assertThatThrownBy(() -> accounts.updateOne(Filters.eq(1), new Document("noOperator", 1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void closedClientIsRefused() {
    MongoCollection<Document> accounts = accounts();
    client.close();

    assertThatThrownBy(() -> accounts.find(Filters.eq(1)).first())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("open");
  }

  /** A collection of accounts 0 to 299, a hundred on each shard. */
  private MongoCollection<Document> accounts() {
    String name = "blocking" + ++collections;
    testbed.shardCollection(
        Application.DATABASE + "." + name,
        new BsonDocument("_id", new BsonInt32(1)),
        List.of(
            new BsonDocument("_id", new BsonInt32(PER_SHARD)),
            new BsonDocument("_id", new BsonInt32(2 * PER_SHARD))));
    MongoCollection<Document> accounts = database.getCollection(name);
    accounts.insertMany(
        IntStream.range(0, 3 * PER_SHARD)
            .mapToObj(id -> new Document("_id", id).append("balance", 100))
            .toList());
    return accounts;
  }

  private MongoClient connected() {
    return kind.connect(
        testbed.url(),
        settings ->
            settings.addCommandListener(
                new CommandListener() {
                  @Override
                  public void commandSucceeded(CommandSucceededEvent event) {
                    if (event.getDatabaseName().equals(Application.DATABASE)) {
                      succeeded.add(event.getCommandName());
                    }
                  }
                }));
  }

  private static int balance(Document found) {
    return found.getInteger("balance");
  }
}
