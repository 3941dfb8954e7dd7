package dev.onehop.it.application;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

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
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.client.model.changestream.OperationType;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import com.mongodb.reactivestreams.client.ChangeStreamPublisher;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import com.mongodb.reactivestreams.client.gridfs.GridFSBucket;
import com.mongodb.reactivestreams.client.gridfs.GridFSBuckets;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.Topology;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.codecs.configuration.CodecRegistries;
import org.bson.codecs.pojo.PojoCodecProvider;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.mongodb.core.ReactiveMongoTemplate;
import org.springframework.data.mongodb.core.query.Criteria;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.data.mongodb.core.query.Update;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What an existing application does, on the official client and on ours: the same code twice, and
 * nothing in it but who makes the client knows which.
 */
@ParameterizedClass
@EnumSource
class DropInIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int PER_SHARD = 100;
  private static final int WRITE_CONFLICT = 112;
  private static final int DUPLICATE_KEY = 11000;

  private static Testbed testbed;
  private static int collections;

  @Parameter private ClientKind kind;

  private final ConcurrentLinkedQueue<CommandStartedEvent> started = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<CommandSucceededEvent> succeeded =
      new ConcurrentLinkedQueue<>();
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
    ROUTED {
      @Override
      MongoClient connect(String url, Consumer<MongoClientSettings.Builder> change) {
        return OneHop.builder(url).applyToClientSettings(change).reactiveClient();
      }
    },
    DIRECT {
      @Override
      MongoClient connect(String url, Consumer<MongoClientSettings.Builder> change) {
        return OneHop.builder(url)
            .applyToClientSettings(change)
            .routing(RoutingMode.DIRECT)
            .reactiveClient();
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
      context.register(Application.class);
      context.refresh();
      OrderRepository orders = context.getBean(OrderRepository.class);
      ReactiveMongoTemplate template = context.getBean(ReactiveMongoTemplate.class);
      run(orders.deleteAll());

      all(
          orders.saveAll(
              List.of(
                  new Order("1", "anna", 10, List.of("tea")),
                  new Order("2", "karl", 20, List.of("tea", "milk")),
                  new Order("3", "zoe", 30, List.of("milk")),
                  new Order("4", "karl", 40, List.of()))));
      run(orders.save(new Order("1", "anna", 11, List.of("tea", "sugar"))));
      Order inserted = run(orders.insert(new Order(null, "zoe", 5, List.of())));

      assertThat(inserted.id()).isNotNull();
      assertThat(run(orders.findById("1")).total()).isEqualTo(11);
      assertThat(all(orders.findByCustomer("karl")))
          .extracting(Order::total)
          .containsExactlyInAnyOrder(20, 40);
      assertThat(all(orders.findByTotalGreaterThanOrderByTotal(10)))
          .extracting(Order::total)
          .containsExactly(11, 20, 30, 40);
      assertThat(all(orders.withItem("karl", "milk"))).extracting(Order::id).containsExactly("2");
      assertThat(run(orders.countByCustomer("zoe"))).isEqualTo(2);
      assertThat(run(orders.existsByCustomer("nobody"))).isFalse();
      assertThat(run(orders.count())).isEqualTo(5);
      assertThat(run(orders.totalOf("karl")).total()).isEqualTo(60);
      assertThat(run(orders.findAndAddToTotalByCustomer("karl", 1))).isEqualTo(2);
      assertThat(run(orders.totalOf("karl")).total()).isEqualTo(62);
      assertThat(run(orders.deleteByCustomer("karl"))).isEqualTo(2);
      assertThat(run(orders.count())).isEqualTo(3);

      Query zoe = Query.query(Criteria.where("customer").is("zoe").and("id").is("3"));
      Order before = run(template.findAndModify(zoe, new Update().inc("total", 3), Order.class));
      assertThat(before.total()).isEqualTo(30);
      assertThat(run(template.findOne(zoe, Order.class)).total()).isEqualTo(33);
      assertThat(all(template.findDistinct("customer", Order.class, String.class)))
          .containsExactly("anna", "zoe");
      assertThat(all(database.getCollection("orders").listIndexes()))
          .extracting(index -> index.getString("name"))
          .contains("_id_", "customer_1", "total");
    }
  }

  @Test
  void gridFs() {
    GridFSBucket bucket = GridFSBuckets.create(database, "files" + ++collections);
    byte[] content = new byte[3 * 1024 * 1024 + 7];
    new Random(1).nextBytes(content);

    ObjectId id =
        run(bucket.uploadFromPublisher("large", Flux.just(content).map(ByteBuffer::wrap)));
    byte[] read = read(bucket.downloadToPublisher(id));

    assertThat(Arrays.equals(read, content)).isTrue();
    assertThat(run(bucket.find(Filters.eq("filename", "large")).first()).getLength())
        .isEqualTo(content.length);
    run(bucket.rename(id, "renamed"));
    assertThat(Arrays.equals(read(bucket.downloadToPublisher("renamed")), content)).isTrue();
    run(bucket.delete(id));
    assertThat(all(bucket.find())).isEmpty();
    run(bucket.drop());
  }

  @Test
  void committedTransactionOfOneShard() {
    MongoCollection<Document> accounts = accounts();
    MongoCollection<Document> asSeenByOthers = accounts.withReadConcern(ReadConcern.LOCAL);
    try (ClientSession session = run(client.startSession())) {
      session.startTransaction();
      assertThat(session.hasActiveTransaction()).isTrue();
      run(accounts.updateOne(session, Filters.eq(250), Updates.inc("balance", -10)));
      run(accounts.updateOne(session, Filters.eq(251), Updates.inc("balance", 10)));

      assertThat(balance(accounts.find(session, Filters.eq(250)).first())).isEqualTo(90);
      assertThat(balance(asSeenByOthers.find(Filters.eq(250)).first())).isEqualTo(100);
      assertThat(run(accounts.countDocuments(session, Filters.gt("balance", 100)))).isEqualTo(1);
      run(session.commitTransaction());
      assertThat(session.hasActiveTransaction()).isFalse();
      run(session.commitTransaction()); // A commit may be said again.

      assertThat(balance(accounts.find(session, Filters.eq(250)).first())).isEqualTo(90);
      assertThat(balance(accounts.find(Filters.eq(251)).first())).isEqualTo(110);
    }
  }

  @Test
  void transactionOverSeveralShards() {
    MongoCollection<Document> accounts = accounts();
    try (ClientSession session = run(client.startSession())) {
      for (boolean commit : new boolean[] {true, false}) {
        session.startTransaction(
            TransactionOptions.builder()
                .readConcern(ReadConcern.SNAPSHOT)
                .writeConcern(WriteConcern.MAJORITY)
                .build());
        assertThat(
                run(accounts.updateOne(session, Filters.eq(10), Updates.inc("balance", -5)))
                    .getModifiedCount())
            .isEqualTo(1);
        assertThat(
                run(accounts.updateOne(session, Filters.eq(110), Updates.inc("balance", 2)))
                    .getModifiedCount())
            .isEqualTo(1);
        assertThat(
                run(accounts.updateOne(session, Filters.eq(210), Updates.inc("balance", 3)))
                    .getModifiedCount())
            .isEqualTo(1);
        assertThat(all(accounts.find(session, Filters.in("_id", 10, 110, 210))))
            .extracting(each -> each.getInteger("balance"))
            .contains(commit ? 95 : 90);
        run(commit ? session.commitTransaction() : session.abortTransaction());
      }
      // Outside of the session a shard may answer before it has heard of the commit.
      assertThat(balance(accounts.find(session, Filters.eq(10)).first())).isEqualTo(95);
      assertThat(balance(accounts.find(session, Filters.eq(110)).first())).isEqualTo(102);
      assertThat(balance(accounts.find(session, Filters.eq(210)).first())).isEqualTo(103);
    }
  }

  @Test
  void abortedTransactionLeavesNothing() {
    MongoCollection<Document> accounts = accounts();
    try (ClientSession session = run(client.startSession())) {
      session.startTransaction();
      run(accounts.insertOne(session, new Document("_id", 1000)));
      run(
          accounts.insertMany(
              session, List.of(new Document("_id", 1001), new Document("_id", 5000))));
      run(accounts.deleteOne(session, Filters.eq(3)));
      run(session.abortTransaction());

      assertThat(all(accounts.find(session, Filters.gte("_id", 1000)))).isEmpty();
      assertThat(run(accounts.find(session, Filters.eq(3)).first())).isNotNull();
      assertThatThrownBy(() -> run(session.commitTransaction()))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void writeConflictIsTransientAndTheLoopSucceeds() {
    MongoCollection<Document> accounts = accounts();
    try (ClientSession first = run(client.startSession());
        ClientSession second = run(client.startSession())) {
      first.startTransaction();
      run(accounts.updateOne(first, Filters.eq(150), Updates.inc("balance", 1)));
      second.startTransaction();

      MongoCommandException conflict =
          catchThrowableOfType(
              MongoCommandException.class,
              () -> run(accounts.updateOne(second, Filters.eq(150), Updates.inc("balance", 1))));
      assertThat(conflict.getErrorCode()).isEqualTo(WRITE_CONFLICT);
      assertThat(conflict.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL)).isTrue();
      run(second.abortTransaction());
      run(first.commitTransaction());

      Mono<Void> again =
          Mono.defer(
              () -> {
                second.startTransaction();
                return Mono.from(
                        accounts.updateOne(second, Filters.eq(150), Updates.inc("balance", 1)))
                    .then(Mono.from(second.commitTransaction()));
              });
      run(again);
      assertThat(balance(accounts.find(Filters.eq(150)).first())).isEqualTo(102);
    }
  }

  @Test
  void whatTransactionsRefuse() {
    MongoCollection<Document> accounts = accounts();
    try (ClientSession session = run(client.startSession());
        ClientSession snapshot =
            run(client.startSession(ClientSessionOptions.builder().snapshot(true).build()))) {
      assertThatThrownBy(() -> run(session.commitTransaction()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("There is no transaction started");
      session.startTransaction();
      assertThatThrownBy(session::startTransaction)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("Transaction already in progress");
      run(accounts.insertOne(session, new Document("_id", 2000)));
      assertThatThrownBy(session::startTransaction)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("Transaction already in progress");
      run(session.commitTransaction());
      run(accounts.find(session, Filters.eq(10)).first());
      assertThatThrownBy(() -> run(session.commitTransaction()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("There is no transaction started");
      assertThatThrownBy(snapshot::startTransaction)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("Transactions are not supported in snapshot sessions");
      session.startTransaction();
      run(session.commitTransaction()); // Nothing was done in it.
    }
  }

  @Test
  void commandInATransactionRunsWhereTheTransactionIs() {
    MongoCollection<Document> accounts = accounts();
    BsonDocument query =
        new BsonDocument("find", new BsonString(accounts.getNamespace().getCollectionName()))
            .append("filter", new BsonDocument("_id", new BsonInt32(205)));
    try (ClientSession session = run(client.startSession())) {
      session.startTransaction();
      Mono<Document> found =
          Mono.from(accounts.updateOne(session, Filters.eq(205), Updates.set("balance", 7)))
              .then(Mono.from(database.runCommand(session, query)));

      assertThat(run(found).get("cursor", Document.class).getList("firstBatch", Document.class))
          .extracting(each -> each.getInteger("balance"))
          .containsExactly(7);
      run(session.abortTransaction());
    }
  }

  @Test
  void causallyConsistentSession() {
    MongoCollection<Document> accounts = accounts().withReadConcern(ReadConcern.MAJORITY);
    try (ClientSession session =
        run(client.startSession(ClientSessionOptions.builder().causallyConsistent(true).build()))) {
      for (int round = 0; round < 5; round++) {
        int id = PER_SHARD * (round % 3) + round;
        run(accounts.updateOne(session, Filters.eq(id), Updates.inc("balance", 1)));
        BsonTimestamp written = session.getOperationTime();
        assertThat(written).isNotNull();
        started.clear();

        assertThat(balance(accounts.find(session, Filters.eq(id)).first())).isEqualTo(101);
        assertThat(run(accounts.find(session, Filters.eq((id + PER_SHARD) % 300)).first()))
            .isNotNull();

        assertThat(commands("find"))
            .hasSize(2)
            .allSatisfy(
                find ->
                    assertThat(find.getDocument("readConcern").getTimestamp("afterClusterTime"))
                        .isGreaterThanOrEqualTo(written));
        assertThat(session.getClusterTime()).isNotNull();
      }
    }
  }

  @RepeatedTest(3)
  void snapshotSessionReadsOneTimeEverywhere() {
    MongoCollection<Document> accounts = accounts();
    // Takes the cluster time of one shard ahead of what the others have heard of.
    run(
        accounts.bulkWrite(
            Collections.nCopies(
                500, new UpdateOneModel<>(Filters.eq(20), Updates.inc("touched", 1)))));
    try (ClientSession session =
        run(client.startSession(ClientSessionOptions.builder().snapshot(true).build()))) {
      assertThat(balance(accounts.find(session, Filters.eq(20)).first())).isEqualTo(100);
      run(accounts.updateOne(Filters.eq(220), Updates.inc("balance", 1)));
      run(accounts.updateOne(Filters.eq(20), Updates.inc("balance", 1)));

      assertThat(balance(accounts.find(session, Filters.eq(220)).first())).isEqualTo(100);
      assertThat(balance(accounts.find(session, Filters.eq(20)).first())).isEqualTo(100);
      assertThat(balance(accounts.find(Filters.eq(20)).first())).isEqualTo(101);
    }
  }

  @Test
  void sessionOfAnotherClientIsRefused() {
    MongoCollection<Document> accounts = accounts();
    try (MongoClient other = connected();
        ClientSession session = run(other.startSession())) {
      assertThatThrownBy(() -> run(accounts.find(session, Filters.eq(1)).first()))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("ClientSession from same MongoClient");
      assertThatThrownBy(() -> run(accounts.insertOne(session, new Document("_id", 9))))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("ClientSession from same MongoClient");
      assertThatThrownBy(() -> run(database.runCommand(session, new Document("ping", 1))))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("ClientSession from same MongoClient");
    }
  }

  @Test
  void closedSessionIsRefused() {
    MongoCollection<Document> accounts = accounts();
    ClientSession session = run(client.startSession());
    run(accounts.find(session, Filters.eq(1)).first());
    session.close();

    assertThatThrownBy(() -> run(accounts.find(session, Filters.eq(201)).first()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("open");
  }

  @Test
  void bulkErrorsInASessionCarryTheCallersIndexes() {
    MongoCollection<Document> accounts = accounts();
    List<Document> documents =
        IntStream.of(1000, 10, -1, 210, -2).mapToObj(id -> new Document("_id", id)).toList();
    try (ClientSession session = run(client.startSession())) {
      MongoBulkWriteException failure =
          catchThrowableOfType(
              MongoBulkWriteException.class,
              () ->
                  run(
                      accounts.insertMany(
                          session, documents, new InsertManyOptions().ordered(false))));

      assertThat(failure.getWriteErrors())
          .extracting(error -> error.getIndex())
          .containsExactly(1, 3);
      assertThat(failure.getWriteResult().getInsertedCount()).isEqualTo(3);
      assertThat(failure.getWriteErrors()).allMatch(error -> error.getCode() == DUPLICATE_KEY);
    }
  }

  @Test
  void changeStreamGoesOnWhereItWasLeft() {
    MongoCollection<Document> accounts = accounts();
    List<ChangeStreamDocument<Document>> seen = new ArrayList<>();
    Watcher first = new Watcher(accounts.watch());
    for (int i = 0; i < 10; i++) {
      run(accounts.insertOne(new Document("_id", 300 + i)));
      run(accounts.updateOne(Filters.eq(PER_SHARD * (i % 3)), Updates.inc("balance", 1)));
    }
    seen.addAll(first.take(9));
    for (int i = 0; i < 5; i++) {
      run(accounts.insertOne(new Document("_id", -1 - i)));
      run(accounts.deleteOne(Filters.eq(250 + i)));
    }

    Watcher second =
        new Watcher(accounts.watch().resumeAfter(seen.get(seen.size() - 1).getResumeToken()));
    seen.addAll(second.take(21));

    List<Integer> inserted =
        seen.stream()
            .filter(event -> event.getOperationType() == OperationType.INSERT)
            .map(event -> event.getDocumentKey().getNumber("_id").intValue())
            .toList();
    assertThat(inserted)
        .hasSize(15)
        .containsSubsequence(300, 301, 302, 303, 304, 305, 306, 307, 308, 309)
        .containsSubsequence(-1, -2, -3, -4, -5);
    assertThat(seen)
        .filteredOn(event -> event.getOperationType() == OperationType.UPDATE)
        .hasSize(10);
    assertThat(seen)
        .filteredOn(event -> event.getOperationType() == OperationType.DELETE)
        .extracting(event -> event.getDocumentKey().getNumber("_id").intValue())
        .containsExactly(250, 251, 252, 253, 254);
    assertThat(seen).extracting(ChangeStreamDocument::getResumeToken).doesNotHaveDuplicates();
  }

  @Test
  void changeStreamsOfDatabaseAndClusterAndFromATime() {
    MongoCollection<Document> accounts = accounts();
    MongoCollection<Document> unsharded = database.getCollection("plain" + ++collections);
    run(unsharded.insertOne(new Document("_id", "before")));
    try (ClientSession session = run(client.startSession())) {
      // Later than what any shard has done.
      run(accounts.find(session, Filters.eq(1)).first());
      run(accounts.find(session, Filters.eq(101)).first());
      run(accounts.find(session, Filters.eq(201)).first());
      BsonTimestamp from =
          new BsonTimestamp(
              session.getOperationTime().getTime(), session.getOperationTime().getInc() + 1);
      run(unsharded.insertOne(session, new Document("_id", "one")));
      run(accounts.insertOne(session, new Document("_id", 1001)));
      run(accounts.insertOne(session, new Document("_id", -1001)));

      Watcher ofDatabase = new Watcher(database.watch().startAtOperationTime(from));
      Watcher ofCluster =
          new Watcher(
              client
                  .watch(List.of(new Document("$match", new Document("operationType", "insert"))))
                  .startAtOperationTime(from));

      for (Watcher watcher : List.of(ofDatabase, ofCluster)) {
        assertThat(watcher.take(3))
            .extracting(event -> event.getDocumentKey().get("_id").toString())
            .containsExactly(
                new BsonString("one").toString(),
                new BsonInt32(1001).toString(),
                new BsonInt32(-1001).toString());
      }
    }
  }

  @Test
  void commandListenersHearEveryCommand() {
    MongoCollection<Document> accounts = accounts();
    run(accounts.find(Filters.eq(1)).first());
    started.clear();
    succeeded.clear();

    run(accounts.find(Filters.eq(1)).first());
    run(accounts.updateOne(Filters.eq(201), Updates.inc("balance", 1)));

    await().atMost(TIMEOUT).until(() -> succeeded.size() >= 2);
    assertThat(commands("find")).hasSize(1);
    assertThat(commands("update")).hasSize(1);
    assertThat(started)
        .extracting(CommandStartedEvent::getDatabaseName)
        .containsOnly(Application.DATABASE);
  }

  @Test
  void pojos() {
    accounts();
    MongoCollection<Account> accounts =
        database
            .withCodecRegistry(
                CodecRegistries.fromRegistries(
                    MongoClientSettings.getDefaultCodecRegistry(),
                    CodecRegistries.fromProviders(
                        PojoCodecProvider.builder().automatic(true).build())))
            .getCollection("accounts" + collections, Account.class);
    Account account = new Account();
    account.id = 777;
    account.balance = 5;

    run(accounts.insertOne(account));
    run(accounts.replaceOne(Filters.eq(777), account));

    assertThat(run(accounts.find(Filters.eq(777)).first()).balance).isEqualTo(5);
    assertThat(run(accounts.findOneAndDelete(Filters.eq(777))).id).isEqualTo(777);
  }

  /** Public fields are what the POJO codec maps here. */
  public static final class Account {
    public int id;
    public int balance;
  }

  @Test
  void errorsOfTheServer() {
    MongoCollection<Document> accounts = accounts();

    assertThat(
            catchThrowableOfType(
                    MongoWriteException.class,
                    () -> run(accounts.insertOne(new Document("_id", 1))))
                .getCode())
        .isEqualTo(DUPLICATE_KEY);
    assertThatThrownBy(() -> run(accounts.find(Filters.eq("$bad", 1)).first()))
        .isInstanceOf(MongoException.class);
    assertThatThrownBy(() -> run(accounts.updateOne(Filters.eq(1), new Document("noOperator", 1))))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> run(accounts.updateOne(Filters.eq(1), (Document) null)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void closedClientIsRefused() {
    MongoCollection<Document> accounts = accounts();
    run(accounts.find(Filters.eq(1)).first());
    client.close();

    for (Publisher<?> operation :
        List.<Publisher<?>>of(
            Flux.defer(() -> accounts.find(Filters.eq(1))),
            Mono.defer(() -> Mono.from(accounts.insertOne(new Document()))),
            Mono.defer(() -> Mono.from(database.runCommand(new Document("ping", 1)))),
            Flux.defer(() -> accounts.watch()),
            Mono.defer(() -> Mono.from(client.startSession())))) {
      Throwable failure = catchThrowable(() -> all(operation));
      if (failure != null) {
        assertThat(failure).isInstanceOf(IllegalStateException.class).hasMessageContaining("open");
      }
    }
    assertThatThrownBy(() -> all(accounts.find(Filters.eq(1)))).hasMessageContaining("open");
  }

  /** A collection of accounts 0 to 299, a hundred on each shard. */
  private MongoCollection<Document> accounts() {
    String name = "accounts" + ++collections;
    testbed.shardCollection(
        Application.DATABASE + "." + name,
        new BsonDocument("_id", new BsonInt32(1)),
        List.of(
            new BsonDocument("_id", new BsonInt32(PER_SHARD)),
            new BsonDocument("_id", new BsonInt32(2 * PER_SHARD))));
    MongoCollection<Document> accounts = database.getCollection(name);
    run(
        accounts.insertMany(
            IntStream.range(0, 3 * PER_SHARD)
                .mapToObj(id -> new Document("_id", id).append("balance", 100))
                .toList()));
    return accounts;
  }

  private MongoClient connected() {
    return kind.connect(
        testbed.url(), settings -> settings.addCommandListener(new Recorder(started, succeeded)));
  }

  private List<BsonDocument> commands(String name) {
    return started.stream()
        .filter(event -> event.getCommandName().equals(name))
        .map(CommandStartedEvent::getCommand)
        .toList();
  }

  private record Recorder(
      ConcurrentLinkedQueue<CommandStartedEvent> started,
      ConcurrentLinkedQueue<CommandSucceededEvent> succeeded)
      implements CommandListener {
    @Override
    public void commandStarted(CommandStartedEvent event) {
      if (event.getDatabaseName().equals(Application.DATABASE)) {
        started.add(
            new CommandStartedEvent(
                event.getRequestContext(),
                event.getOperationId(),
                event.getRequestId(),
                event.getConnectionDescription(),
                event.getDatabaseName(),
                event.getCommandName(),
                event.getCommand().clone()));
      }
    }

    @Override
    public void commandSucceeded(CommandSucceededEvent event) {
      if (event.getDatabaseName().equals(Application.DATABASE)) {
        succeeded.add(event);
      }
    }
  }

  /** Reads a change stream from when it is open. */
  private static final class Watcher {
    private final ConcurrentLinkedQueue<ChangeStreamDocument<Document>> events =
        new ConcurrentLinkedQueue<>();
    private final Disposable reading;
    private volatile Throwable failure;

    Watcher(ChangeStreamPublisher<Document> stream) {
      reading = Flux.from(stream).subscribe(events::add, e -> failure = e);
      pauseUntilOpen();
    }

    @SuppressWarnings("ThreadSleep") // Nothing tells a subscriber that the stream is open.
    private static void pauseUntilOpen() {
      try {
        Thread.sleep(2_000);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    List<ChangeStreamDocument<Document>> take(int number) {
      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () -> {
                assertThat(failure).isNull();
                assertThat(events).hasSizeGreaterThanOrEqualTo(number);
              });
      reading.dispose();
      return List.copyOf(events).subList(0, number);
    }
  }

  private static int balance(Publisher<Document> found) {
    return run(found).getInteger("balance");
  }

  private static byte[] read(Publisher<ByteBuffer> content) {
    return Flux.from(content)
        .reduce(
            new java.io.ByteArrayOutputStream(),
            (out, buffer) -> {
              byte[] bytes = new byte[buffer.remaining()];
              buffer.get(bytes);
              out.writeBytes(bytes);
              return out;
            })
        .block(TIMEOUT)
        .toByteArray();
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }

  private static <T> List<T> all(Publisher<T> operation) {
    return Flux.from(operation).collectList().block(TIMEOUT);
  }
}
