package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.CreateCollectionOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.TimeSeriesOptions;
import com.mongodb.client.model.Updates;
import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.ClusterCopy.Begin;
import dev.onehop.copy.CopyControl;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.testbed.Testbed;
import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.message.LegacyHello;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireFrames;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Copies to and from clusters with the feature compatibility version 5.0. */
@Tag("full")
class FeatureCompatibilityIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int DOCUMENTS = 600;
  private static final Set<String> READS =
      Set.of(
          "find",
          "getMore",
          "killCursors",
          "aggregate",
          "ping",
          "connectionStatus",
          "listDatabases",
          "listCollections",
          "listIndexes",
          "getDefaultRWConcern",
          "endSessions");

  private static Testbed old;
  private static Testbed current;
  private static MongoClient oldClient;
  private static MongoClient currentClient;

  @BeforeAll
  static void start() {
    old =
        Testbed.builder(NearShards.topology("compatible-5", 68, 2))
            .featureCompatibilityVersion("5.0")
            .start();
    current = Testbed.builder(NearShards.topology("compatible-6", 69, 2)).start();
    oldClient = MongoClients.create(old.url());
    currentClient = MongoClients.create(current.url());
    assertThat(old.server().featureCompatibilityVersion()).isEqualTo("5.0");
    assertThat(current.server().featureCompatibilityVersion()).isEqualTo("6.0");
  }

  @AfterAll
  static void stop() throws Exception {
    for (AutoCloseable each : Arrays.asList(oldClient, currentClient, old, current)) {
      if (each != null) {
        each.close();
      }
    }
  }

  private static void fill(Testbed testbed, MongoDatabase database) {
    testbed.shardCollection(
        database.getName() + ".ranged",
        BsonDocument.parse("{_id: 1}"),
        List.of(BsonDocument.parse("{_id: 200}"), BsonDocument.parse("{_id: 400}")));
    testbed.shardHashedCollection(
        database.getName() + ".hashed", BsonDocument.parse("{_id: 'hashed'}"), 4);
    List<Document> documents =
        IntStream.range(0, DOCUMENTS).mapToObj(i -> new Document("_id", i).append("n", i)).toList();
    for (String name : List.of("ranged", "hashed", "plain")) {
      database.getCollection(name).insertMany(documents);
      database.getCollection(name).createIndex(new Document("n", 1));
    }
    database.createCollection(
        "capped", new CreateCollectionOptions().capped(true).sizeInBytes(1 << 20));
    database.getCollection("capped").insertMany(documents);
    database.createCollection(
        "series",
        new CreateCollectionOptions()
            .timeSeriesOptions(new TimeSeriesOptions("at").metaField("m")));
    database
        .getCollection("series")
        .insertMany(
            IntStream.range(0, 100)
                .mapToObj(
                    i -> new Document("at", Instant.ofEpochSecond(i * 60L)).append("m", i % 3))
                .toList());
    database.createView("view", "plain", List.of(Filters.eq("$match", new Document("n", 1))));
  }

  private static void change(MongoDatabase database) {
    for (String name : List.of("ranged", "hashed", "plain")) {
      database.getCollection(name).updateMany(Filters.lt("n", 100), Updates.inc("n", 1_000));
      database.getCollection(name).deleteMany(Filters.gte("_id", DOCUMENTS - 50));
      database.getCollection(name).insertOne(new Document("_id", DOCUMENTS + 1));
    }
    database.getCollection("late").insertOne(new Document("_id", 1));
    database.getCollection("capped").insertOne(new Document("_id", DOCUMENTS + 1));
    database.getCollection("gone").insertOne(new Document("_id", 1));
    database.getCollection("gone").drop();
  }

  /**
   * Runs a copy through all its phases while documents change. Then runs a verification, which
   * reads both ends.
   */
  private static void copyAndVerify(
      Testbed from, MongoClient source, Testbed to, MongoClient destination, String database)
      throws Exception {
    fill(from, source.getDatabase(database));
    // The copy drops this old collection. In its database, sharding is not enabled yet.
    destination.getDatabase(database).getCollection("plain").insertOne(new Document("_id", "old"));
    try (ClusterCopy copy =
            ClusterCopy.builder(from.url(), to.url())
                .job(database)
                .include(List.of(database))
                .begin(Begin.OVERWRITE)
                .phases(EnumSet.allOf(CopyPhase.class))
                .build();
        CopyControl control = CopyControl.connect(to.url(), settings -> {}, database)) {
      CompletableFuture<Void> ended =
          CompletableFuture.runAsync(
              () -> {
                try {
                  copy.run();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
              });
      await()
          .atMost(TIMEOUT)
          .until(() -> ended.isDone() || copy.progress().phase() == CopyPhase.INCREMENTAL);
      if (ended.isDone()) {
        ended.join();
      }
      assertThat(copy.progress().notes()).noneMatch(note -> note.contains("not spread evenly"));
      change(source.getDatabase(database));
      control.finish();
      ended.join();
      assertThat(copy.progress().lagAtFinish()).isNotNull();
      assertThat(copy.progress().oplogLeft()).isPositive();
      assertThat(control.status().getDocument("progress").getDocument("seconds").keySet())
          .containsExactly("start", "structure", "full", "indexes", "incremental", "finish");
    }
    CopyIT.Printed verified =
        CopyIT.onehop(
            "verify",
            "--from",
            from.url(),
            "--to",
            to.url(),
            "--include",
            database,
            "--settle",
            "1s");
    assertThat(verified.exitCode()).as(verified.out() + verified.err()).isZero();
    assertThat(verified.out()).contains("\nequal");
    assertThat(
            destination
                .getDatabase("config")
                .getCollection("collections")
                .countDocuments(Filters.in("_id", database + ".ranged", database + ".hashed")))
        .isEqualTo(2);
  }

  @Test
  void copiesToClusterOfVersion50() throws Exception {
    copyAndVerify(current, currentClient, old, oldClient, "forth");
  }

  @Test
  void copiesFromClusterOfVersion50() throws Exception {
    copyAndVerify(old, oldClient, current, currentClient, "back");
  }

  @Test
  void streamOfVersion50ReturnsEveryChange() {
    MongoDatabase database = oldClient.getDatabase("streamed");
    fill(old, database);
    ShardedChangeStream stream =
        ShardedChangeStream.builder(old.url()).collection("streamed", "ranged").build();
    Checkpoint start = Mono.from(stream.start()).block(TIMEOUT);
    database.getCollection("ranged").updateMany(new Document(), Updates.inc("n", 1));
    assertThat(
            Flux.from(stream.events(start))
                .ofType(StreamEvent.Change.class)
                .take(DOCUMENTS)
                .map(change -> change.document().getDocument("documentKey").get("_id"))
                .collectList()
                .block(TIMEOUT))
        .doesNotHaveDuplicates()
        .hasSize(DOCUMENTS);
  }

  private static final BsonDocument HELLO =
      BsonDocument.parse(
          "{ok: 1, ismaster: true, isWritablePrimary: true, msg: 'isdbgrid', maxWireVersion: 13,"
              + " minWireVersion: 0, helloOk: true, maxBsonObjectSize: 16777216,"
              + " maxMessageSizeBytes: 48000000, maxWriteBatchSize: 100000}");

  /** A scripted mongos that sends commands to real servers, and reports an older version. */
  private static ScriptedPeer mongos(boolean versionReadable, Queue<String> written) {
    return ScriptedPeer.raw(
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            channel
                .pipeline()
                .addLast(
                    new WireFrames(),
                    new SimpleChannelInboundHandler<ByteBuf>() {
                      @Override
                      protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
                        ByteBuf reply = context.alloc().buffer();
                        if (LegacyHello.is(frame)) {
                          LegacyHello.reply(frame, 1, HELLO, reply);
                        } else {
                          OpMsg request = OpMsg.decode(frame);
                          request.reply(1, answer(request, versionReadable, written)).encode(reply);
                        }
                        context.writeAndFlush(reply);
                      }
                    });
          }
        });
  }

  private static BsonDocument answer(
      OpMsg request, boolean versionReadable, Queue<String> written) {
    String name = request.commandName();
    if (name.equals("hello") || name.equals("isMaster")) {
      return HELLO.clone();
    }
    if (name.equals("buildInfo")) {
      return BsonDocument.parse("{ok: 1, version: '4.4.29'}");
    }
    if (request.body().get(name).equals(new BsonString("system.version"))) {
      return BsonDocument.parse(
          versionReadable
              ? "{ok: 1, cursor: {id: NumberLong(0), ns: 'admin.system.version',"
                  + " firstBatch: [{_id: 'featureCompatibilityVersion', version: '4.4'}]}}"
              : "{ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on admin'}");
    }
    if (!READS.contains(name)) {
      written.add(name);
    }
    BsonDocument command = new BsonDocument();
    command.putAll(request.body());
    List.of("$db", "lsid", "$clusterTime", "$readPreference").forEach(command::remove);
    try {
      return currentClient.getDatabase(request.database()).runCommand(command, BsonDocument.class);
    } catch (MongoCommandException e) {
      return e.getResponse();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "copy --from OLD --to NEW, 1, the source",
    "copy --from NEW --to OLD, 1, the destination",
    "copy --from NEW --to OLD --overwrite, 1, the destination",
    "copy reverse --from NEW --to OLD, 1, the destination",
    "verify --from OLD --to NEW, 2, the source",
    "verify --from NEW --to OLD, 2, the destination",
    "consume --url OLD --quick --out OUT, 1, the cluster",
    "propagate --url OLD --quick --out OUT, 1, the cluster"
  })
  void rejectsOlderClustersWithoutWriting(
      String command, int exitCode, String side, @TempDir Path folder) {
    System.setProperty("onehop.home", Path.of("..").toAbsolutePath().normalize().toString());
    for (boolean versionReadable : List.of(true, false)) {
      Queue<String> written = new ConcurrentLinkedQueue<>();
      try (ScriptedPeer mongos = mongos(versionReadable, written)) {
        CopyIT.Printed refused =
            CopyIT.onehop(
                command
                    .replace("OLD", mongos.url().replaceFirst("/\\?.*", ""))
                    .replace("NEW", old.url())
                    .replace("OUT", folder.resolve("out-" + versionReadable).toString())
                    .split(" ", -1));
        assertThat(refused.err())
            .isEqualToNormalizingNewlines(
                "onehop: %s has the %s, and 5.0 or later is needed\n"
                    .formatted(
                        side,
                        versionReadable
                            ? "feature compatibility version 4.4"
                            : "server version 4.4.29"));
        assertThat(refused.exitCode()).isEqualTo(exitCode);
        assertThat(written).isEmpty();
      }
    }
  }
}
