package dev.onehop.it.application;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.mongodb.ClientSessionOptions;
import com.mongodb.MongoBulkWriteException;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoWriteException;
import com.mongodb.ReadConcern;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ChangeStreamIterable;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.gridfs.GridFSBucket;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.client.model.changestream.OperationType;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import dev.onehop.it.clients.Accounts;
import dev.onehop.it.clients.Mode;
import dev.onehop.it.clients.RoutedModes;
import dev.onehop.routing.clients.BlockingView;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.codecs.configuration.CodecRegistries;
import org.bson.codecs.pojo.PojoCodecProvider;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.mongodb.core.MongoOperations;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.ReactiveMongoTemplate;
import org.springframework.data.mongodb.core.query.Criteria;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.data.mongodb.core.query.Update;

/**
 * The operations of an existing application, with the official clients and with OneHop's. The code
 * is the same: only the creation of the client differs.
 */
@ParameterizedClass
@MethodSource("modes")
@ShardedCluster
class DropInIT {
  /** With {@code -Dfull}, all modes. Otherwise, one mode for each driver. */
  static List<Mode> modes() {
    return RoutedModes.FULL
        ? List.of(
            Mode.PLAIN,
            Mode.PLAIN_SYNC,
            Mode.TARGETED,
            Mode.TARGETED_SYNC,
            Mode.DIRECT,
            Mode.DIRECT_SYNC)
        : List.of(Mode.TARGETED_SYNC, Mode.DIRECT);
  }

  private static final int PER_SHARD = 100;
  private static final int WRITE_CONFLICT = 112;
  private static final int DUPLICATE_KEY = 11000;

  private static Testbed testbed;
  private static int collections;

  @Parameter private Mode mode;

  private final ConcurrentLinkedQueue<CommandStartedEvent> started = new ConcurrentLinkedQueue<>();
  private final ConcurrentLinkedQueue<CommandSucceededEvent> succeeded =
      new ConcurrentLinkedQueue<>();
  private MongoClient client;
  private MongoDatabase database;

  @BeforeAll
  static void start(SharedCluster cluster) {
    testbed = cluster.testbed();
    testbed.shardCollection(
        Application.DATABASE + ".orders",
        new BsonDocument("customer", new BsonInt32(1)),
        List.of(
            new BsonDocument("customer", new BsonString("h")),
            new BsonDocument("customer", new BsonString("q"))));
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
      BlockingOrderRepository orders;
      MongoOperations template;
      if (BlockingView.unwrapped(client)
          instanceof com.mongodb.reactivestreams.client.MongoClient reactive) {
        start(
            context,
            com.mongodb.reactivestreams.client.MongoClient.class,
            reactive,
            Application.class);
        orders =
            BlockingView.of(BlockingOrderRepository.class, context.getBean(OrderRepository.class));
        template =
            BlockingView.of(MongoOperations.class, context.getBean(ReactiveMongoTemplate.class));
      } else {
        start(context, MongoClient.class, client, BlockingApplication.class);
        orders = context.getBean(BlockingOrderRepository.class);
        template = context.getBean(MongoTemplate.class);
      }
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

  private static <C> void start(
      AnnotationConfigApplicationContext context, Class<C> type, C client, Class<?> application) {
    context.registerBean("client", type, () -> client, bean -> bean.setDestroyMethodName(""));
    context.register(application);
    context.refresh();
  }

  @Test
  void gridFs() {
    GridFSBucket bucket = BlockingView.bucket(database, "files" + ++collections);
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
      assertThat(session.hasActiveTransaction()).isTrue();
      accounts.updateOne(session, Filters.eq(250), Updates.inc("balance", -10));
      accounts.updateOne(session, Filters.eq(251), Updates.inc("balance", 10));

      assertThat(balance(accounts.find(session, Filters.eq(250)).first())).isEqualTo(90);
      assertThat(balance(asSeenByOthers.find(Filters.eq(250)).first())).isEqualTo(100);
      assertThat(accounts.countDocuments(session, Filters.gt("balance", 100))).isEqualTo(1);
      session.commitTransaction();
      assertThat(session.hasActiveTransaction()).isFalse();
      session.commitTransaction(); // A commit may be repeated.

      assertThat(balance(accounts.find(session, Filters.eq(250)).first())).isEqualTo(90);
      assertThat(balance(accounts.find(Filters.eq(251)).first())).isEqualTo(110);
    }
  }

  @Test
  void transactionOverSeveralShards() {
    MongoCollection<Document> accounts = accounts();
    try (ClientSession session = client.startSession()) {
      for (boolean commit : new boolean[] {true, false}) {
        session.startTransaction(
            TransactionOptions.builder()
                .readConcern(ReadConcern.SNAPSHOT)
                .writeConcern(WriteConcern.MAJORITY)
                .build());
        assertThat(
                accounts
                    .updateOne(session, Filters.eq(10), Updates.inc("balance", -5))
                    .getModifiedCount())
            .isEqualTo(1);
        assertThat(
                accounts
                    .updateOne(session, Filters.eq(110), Updates.inc("balance", 2))
                    .getModifiedCount())
            .isEqualTo(1);
        assertThat(
                accounts
                    .updateOne(session, Filters.eq(210), Updates.inc("balance", 3))
                    .getModifiedCount())
            .isEqualTo(1);
        assertThat(accounts.find(session, Filters.in("_id", 10, 110, 210)))
            .extracting(each -> each.getInteger("balance"))
            .contains(commit ? 95 : 90);
        if (commit) {
          session.commitTransaction();
        } else {
          session.abortTransaction();
        }
      }
      // These reads use the session. Without it, a read might reach a shard before the commit does.
      assertThat(balance(accounts.find(session, Filters.eq(10)).first())).isEqualTo(95);
      assertThat(balance(accounts.find(session, Filters.eq(110)).first())).isEqualTo(102);
      assertThat(balance(accounts.find(session, Filters.eq(210)).first())).isEqualTo(103);
    }
  }

  @Test
  void abortedTransactionHasNoEffect() {
    MongoCollection<Document> accounts = accounts();
    try (ClientSession session = client.startSession()) {
      session.startTransaction();
      accounts.insertOne(session, new Document("_id", 1000));
      accounts.insertMany(session, List.of(new Document("_id", 1001), new Document("_id", 5000)));
      accounts.deleteOne(session, Filters.eq(3));
      session.abortTransaction();

      assertThat(accounts.find(session, Filters.gte("_id", 1000))).isEmpty();
      assertThat(accounts.find(session, Filters.eq(3)).first()).isNotNull();
      assertThatThrownBy(() -> session.commitTransaction())
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void transactionSucceedsAfterTransientWriteConflict() {
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

      second.startTransaction();
      accounts.updateOne(second, Filters.eq(150), Updates.inc("balance", 1));
      second.commitTransaction();
      assertThat(balance(accounts.find(Filters.eq(150)).first())).isEqualTo(102);
    }
  }

  @Test
  void rejectsInvalidTransactionCalls() {
    MongoCollection<Document> accounts = accounts();
    try (ClientSession session = client.startSession();
        ClientSession snapshot =
            client.startSession(ClientSessionOptions.builder().snapshot(true).build())) {
      assertThatThrownBy(() -> session.commitTransaction())
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("There is no transaction started");
      session.startTransaction();
      assertThatThrownBy(session::startTransaction)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("Transaction already in progress");
      accounts.insertOne(session, new Document("_id", 2000));
      assertThatThrownBy(session::startTransaction)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("Transaction already in progress");
      session.commitTransaction();
      accounts.find(session, Filters.eq(10)).first();
      assertThatThrownBy(() -> session.commitTransaction())
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("There is no transaction started");
      assertThatThrownBy(snapshot::startTransaction)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("Transactions are not supported in snapshot sessions");
      session.startTransaction();
      session.commitTransaction(); // The transaction is empty.
    }
  }

  @Test
  void commandRunsInItsTransaction() {
    MongoCollection<Document> accounts = accounts();
    BsonDocument query =
        new BsonDocument("find", new BsonString(accounts.getNamespace().getCollectionName()))
            .append("filter", new BsonDocument("_id", new BsonInt32(205)));
    try (ClientSession session = client.startSession()) {
      session.startTransaction();
      accounts.updateOne(session, Filters.eq(205), Updates.set("balance", 7));
      Document found = database.runCommand(session, query);

      assertThat(found.get("cursor", Document.class).getList("firstBatch", Document.class))
          .extracting(each -> each.getInteger("balance"))
          .containsExactly(7);
      session.abortTransaction();
    }
  }

  @Test
  void causallyConsistentSession() {
    MongoCollection<Document> accounts = accounts().withReadConcern(ReadConcern.MAJORITY);
    try (ClientSession session =
        client.startSession(ClientSessionOptions.builder().causallyConsistent(true).build())) {
      for (int round = 0; round < 5; round++) {
        int id = PER_SHARD * (round % 3) + round;
        accounts.updateOne(session, Filters.eq(id), Updates.inc("balance", 1));
        BsonTimestamp written = session.getOperationTime();
        assertThat(written).isNotNull();
        started.clear();

        assertThat(balance(accounts.find(session, Filters.eq(id)).first())).isEqualTo(101);
        assertThat(accounts.find(session, Filters.eq((id + PER_SHARD) % 300)).first()).isNotNull();

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
  void snapshotSessionReadsSameTimeOnAllShards() {
    MongoCollection<Document> accounts = accounts();
    // Many writes raise the cluster time of one shard above the time of the others.
    accounts.bulkWrite(
        Collections.nCopies(500, new UpdateOneModel<>(Filters.eq(20), Updates.inc("touched", 1))));
    try (ClientSession session =
        client.startSession(ClientSessionOptions.builder().snapshot(true).build())) {
      assertThat(balance(accounts.find(session, Filters.eq(20)).first())).isEqualTo(100);
      accounts.updateOne(Filters.eq(220), Updates.inc("balance", 1));
      accounts.updateOne(Filters.eq(20), Updates.inc("balance", 1));

      assertThat(balance(accounts.find(session, Filters.eq(220)).first())).isEqualTo(100);
      assertThat(balance(accounts.find(session, Filters.eq(20)).first())).isEqualTo(100);
      assertThat(balance(accounts.find(Filters.eq(20)).first())).isEqualTo(101);
    }
  }

  @Test
  void sessionOfAnotherClientIsRefused() {
    MongoCollection<Document> accounts = accounts();
    try (MongoClient other = connected();
        ClientSession session = other.startSession()) {
      assertThatThrownBy(() -> accounts.find(session, Filters.eq(1)).first())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("ClientSession from same MongoClient");
      assertThatThrownBy(() -> accounts.insertOne(session, new Document("_id", 9)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("ClientSession from same MongoClient");
      assertThatThrownBy(() -> database.runCommand(session, new Document("ping", 1)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("ClientSession from same MongoClient");
    }
  }

  @Test
  void closedSessionIsRefused() {
    MongoCollection<Document> accounts = accounts();
    ClientSession session = client.startSession();
    accounts.find(session, Filters.eq(1)).first();
    session.close();

    assertThatThrownBy(() -> accounts.find(session, Filters.eq(201)).first())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("open");
  }

  @Test
  void bulkErrorsInSessionHaveCallersIndexes() {
    MongoCollection<Document> accounts = accounts();
    List<Document> documents =
        IntStream.of(1000, 10, -1, 210, -2).mapToObj(id -> new Document("_id", id)).toList();
    try (ClientSession session = client.startSession()) {
      MongoBulkWriteException failure =
          catchThrowableOfType(
              MongoBulkWriteException.class,
              () ->
                  accounts.insertMany(session, documents, new InsertManyOptions().ordered(false)));

      assertThat(failure.getWriteErrors())
          .extracting(error -> error.getIndex())
          .containsExactly(1, 3);
      assertThat(failure.getWriteResult().getInsertedCount()).isEqualTo(3);
      assertThat(failure.getWriteErrors()).allMatch(error -> error.getCode() == DUPLICATE_KEY);
    }
  }

  @Test
  void transactionByCallback() {
    assumeFalse(BlockingView.isReactive(client), "the reactive driver has none");
    MongoCollection<Document> accounts = accounts();
    try (ClientSession session = client.startSession()) {
      String result =
          session.withTransaction(
              () -> {
                for (int id : new int[] {10, 110, 210}) {
                  accounts.updateOne(session, Filters.eq(id), Updates.inc("balance", id));
                }
                return "done";
              });

      assertThat(result).isEqualTo("done");
      assertThat(accounts.find(session, Filters.in("_id", 10, 110, 210)))
          .extracting(DropInIT::balance)
          .containsExactlyInAnyOrder(110, 210, 310);
    }
  }

  @Test
  void countIgnoresWritesAfterSnapshot() {
    MongoCollection<Document> accounts = accounts();
    try (ClientSession snapshot =
        client.startSession(ClientSessionOptions.builder().snapshot(true).build())) {
      long before = accounts.countDocuments(snapshot);
      accounts.insertOne(new Document("_id", 600));
      assertThat(accounts.countDocuments(snapshot)).isEqualTo(before);
    }
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
  void changeStreamResumesAfterToken() {
    MongoCollection<Document> accounts = accounts();
    List<ChangeStreamDocument<Document>> seen = new ArrayList<>();
    BsonDocument token;
    try (MongoChangeStreamCursor<ChangeStreamDocument<Document>> stream =
        accounts.watch().cursor()) {
      for (int i = 0; i < 10; i++) {
        accounts.insertOne(new Document("_id", 300 + i));
        accounts.updateOne(Filters.eq(PER_SHARD * (i % 3)), Updates.inc("balance", 1));
      }
      for (int i = 0; i < 9; i++) {
        seen.add(stream.next());
      }
      token = stream.getResumeToken();
    }
    for (int i = 0; i < 5; i++) {
      accounts.insertOne(new Document("_id", -1 - i));
      accounts.deleteOne(Filters.eq(250 + i));
    }
    try (MongoChangeStreamCursor<ChangeStreamDocument<Document>> stream =
        accounts.watch().resumeAfter(token).cursor()) {
      while (seen.size() < 30) {
        seen.add(stream.next());
      }
      assertThat(stream.available()).isZero();
      assertThat(stream.tryNext()).isNull();
    }

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
  void changeStreamsOfDatabaseAndClusterStartAtTime() {
    MongoCollection<Document> accounts = accounts();
    MongoCollection<Document> unsharded = database.getCollection("plain" + ++collections);
    unsharded.insertOne(new Document("_id", "before"));
    try (ClientSession session = client.startSession()) {
      // Reads from all shards. The session's time is then not earlier than the last write on any
      // shard.
      accounts.find(session, Filters.eq(1)).first();
      accounts.find(session, Filters.eq(101)).first();
      accounts.find(session, Filters.eq(201)).first();
      BsonTimestamp from =
          new BsonTimestamp(
              session.getOperationTime().getTime(), session.getOperationTime().getInc() + 1);
      unsharded.insertOne(session, new Document("_id", "one"));
      accounts.insertOne(session, new Document("_id", 1001));
      accounts.insertOne(session, new Document("_id", -1001));

      for (ChangeStreamIterable<Document> stream :
          List.of(
              database.watch(),
              client.watch(
                  List.of(new Document("$match", new Document("operationType", "insert")))))) {
        try (MongoCursor<ChangeStreamDocument<Document>> events =
            stream.startAtOperationTime(from).cursor()) {
          assertThat(List.of(events.next(), events.next(), events.next()))
              .extracting(event -> event.getDocumentKey().get("_id").toString())
              .containsExactly(
                  new BsonString("one").toString(),
                  new BsonInt32(1001).toString(),
                  new BsonInt32(-1001).toString());
        }
      }
    }
  }

  @Test
  void commandListenersReceiveEveryCommand() {
    MongoCollection<Document> accounts = accounts();
    accounts.find(Filters.eq(1)).first();
    started.clear();
    succeeded.clear();

    accounts.find(Filters.eq(1)).first();
    accounts.updateOne(Filters.eq(201), Updates.inc("balance", 1));

    assertThat(succeeded)
        .extracting(CommandSucceededEvent::getCommandName)
        .containsExactly("find", "update");
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

    accounts.insertOne(account);
    accounts.replaceOne(Filters.eq(777), account);

    assertThat(accounts.find(Filters.eq(777)).first().balance).isEqualTo(5);
    assertThat(accounts.findOneAndDelete(Filters.eq(777)).id).isEqualTo(777);
  }

  /** A class for the driver's POJO codec, which maps the public fields. */
  public static final class Account {
    public int id;
    public int balance;
  }

  @Test
  void reportsErrorsOfServerAndDriver() {
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
    assertThatThrownBy(() -> accounts.updateOne(Filters.eq(1), (Document) null))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void closedClientIsRefused() {
    MongoCollection<Document> accounts = accounts();
    accounts.find(Filters.eq(1)).first();
    client.close();

    for (ThrowingCallable operation :
        List.<ThrowingCallable>of(
            () -> accounts.insertOne(new Document()),
            () -> database.runCommand(new Document("ping", 1)),
            () -> accounts.watch().cursor().close(),
            () -> client.startSession())) {
      Throwable failure = catchThrowable(operation);
      if (failure != null) {
        assertThat(failure).isInstanceOf(IllegalStateException.class).hasMessageContaining("open");
      }
    }
    assertThatThrownBy(() -> accounts.find(Filters.eq(1)).first())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("open");
  }

  /** A collection of accounts 0 to 299, a hundred on each shard. */
  private MongoCollection<Document> accounts() {
    String name = "accounts" + ++collections;
    Accounts.shard(testbed, Application.DATABASE + "." + name);
    MongoCollection<Document> accounts = database.getCollection(name);
    accounts.insertMany(Accounts.documents());
    return accounts;
  }

  private MongoClient connected() {
    return mode.client(
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

  private static int balance(Document found) {
    return found.getInteger("balance");
  }
}
