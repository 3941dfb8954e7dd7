package dev.onehop.copy.internal.apply;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The plans for events of a capped collection. */
class PlannerTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int HORIZON = 100;

  // The documents that the source still has when a plan reads them.
  private final Set<Integer> there = new HashSet<>();
  private final ConcurrentLinkedQueue<String> unexpected = new ConcurrentLinkedQueue<>();
  private ScriptedPeer server;
  private MongoClient client;
  private Planner planner;

  @BeforeEach
  void start() {
    server = ScriptedPeer.withHello(this::answer);
    client = MongoClients.create(server.url());
    planner =
        new Planner(
            Mapping.ALL,
            EnumSet.allOf(CopyOperation.class),
            new SourceReads(client),
            new Targets(client));
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
    assertThat(unexpected).isEmpty();
  }

  private void answer(OpMsg request, ChannelHandlerContext context) {
    BsonDocument command = request.body();
    String reply =
        switch (request.commandName()) {
          case "listCollections" ->
              cursor("d.$cmd.listCollections", "{name: 'c', options: {capped: true}}");
          case "listDatabases" ->
              "{databases: [], $clusterTime: {clusterTime: {$timestamp: {t: 200, i: 1}}}, ok: 1}";
          case "find" ->
              command.getString("find").getValue().equals("collections")
                  ? cursor("config.collections", "")
                  : cursor("d.c", documents(command));
          default -> {
            unexpected.add(command.toJson());
            yield "{ok: 0, errmsg: 'unexpected', code: 59}";
          }
        };
    ByteBuf buffer = context.alloc().buffer();
    request.reply(1, BsonDocument.parse(reply)).encode(buffer);
    context.writeAndFlush(buffer);
  }

  private String documents(BsonDocument find) {
    return String.join(
        ", ",
        find.getDocument("filter").getDocument("_id").getArray("$in").stream()
            .map(id -> id.asInt32().getValue())
            .distinct()
            .filter(there::contains)
            .map("{_id: %d, later: 1}"::formatted)
            .toList());
  }

  private static String cursor(String namespace, String documents) {
    return "{cursor: {id: {$numberLong: '0'}, ns: '%s', firstBatch: [%s]}, ok: 1}"
        .formatted(namespace, documents);
  }

  private static StreamEvent.Change event(int time, String type, int id) {
    BsonDocument event =
        BsonDocument.parse(
            "{operationType: '%s', ns: {db: 'd', coll: 'c'}, documentKey: {_id: %d}}"
                .formatted(type, id));
    event.append("clusterTime", new BsonTimestamp(time, 1));
    if (type.equals("insert")) {
      event.append("fullDocument", BsonDocument.parse("{_id: %d}".formatted(id)));
    } else if (type.equals("update")) {
      event.append("updateDescription", BsonDocument.parse("{updatedFields: {n: 1}}"));
    }
    return new StreamEvent.Change(
        "s",
        "",
        RawBsonDocument.parse(event.toJson()),
        0,
        Checkpoint.before(new BsonTimestamp(time)));
  }

  /** The planned writes in their order. Each line has the writes of one run. */
  private List<String> planned(StreamEvent.Change... events) {
    return planned(new Lane(1, new BsonTimestamp(HORIZON, 1)), Set.of(), events);
  }

  private List<String> planned(
      Lane lane, Set<Lane.Document> readAgain, StreamEvent.Change... events) {
    BatchPlan plan = planner.plan(List.of(events), lane, readAgain).block(TIMEOUT);
    List<String> lines = new ArrayList<>();
    for (BatchPlan.Work work : plan.work()) {
      lines.add(
          String.join(
              "; ",
              Stream.of(work.deletes(), work.inserts(), work.updates())
                  .map(StatementText::of)
                  .flatMap(List::stream)
                  .toList()));
    }
    return lines;
  }

  @Test
  void writesDeletesAndInsertsInOneRun() {
    assertThat(
            planned(
                event(101, "insert", 3),
                event(101, "delete", 1),
                event(102, "insert", 4),
                event(102, "delete", 2)))
        .containsExactly(
            "delete {\"_id\": 1}; delete {\"_id\": 2}; insert {\"_id\": 3}; insert {\"_id\": 4}");
  }

  @Test
  void insertAfterDeleteStartsNewRun() {
    assertThat(
            planned(
                event(101, "delete", 1),
                event(102, "insert", 2),
                event(103, "insert", 1),
                event(104, "insert", 3)))
        .containsExactly(
            "delete {\"_id\": 1}; insert {\"_id\": 2}", "insert {\"_id\": 1}; insert {\"_id\": 3}");
  }

  /**
   * An update may change the size of a document, and with it the number of documents that fit into
   * the collection.
   */
  @Test
  void insertDoesNotOvertakeUpdate() {
    assertThat(
            planned(
                event(101, "insert", 3),
                event(102, "update", 2),
                event(103, "insert", 4),
                event(103, "delete", 1)))
        .containsExactly(
            "insert {\"_id\": 3}; update {\"_id\": 2} {\"$set\": {\"n\": 1}}",
            "delete {\"_id\": 1}; insert {\"_id\": 4}");
  }

  /**
   * A document that the source has removed must not be inserted: its insert could remove another
   * document that the source still has.
   */
  @Test
  void insertsOnlyExistingDocumentsUpToHorizon() {
    there.add(2);
    there.add(4);
    assertThat(
            planned(
                event(98, "insert", 1),
                event(99, "insert", 2),
                event(100, "insert", 3),
                event(101, "insert", 4)))
        .containsExactly(
            "delete {\"_id\": 1}; delete {\"_id\": 2}; delete {\"_id\": 3};"
                + " insert {\"_id\": 2}; insert {\"_id\": 4}");
  }

  private static Lane.Document document(int id) {
    return DocumentEvent.of(event(0, "delete", id).document()).document();
  }

  /**
   * The document that was read is at the position of its first insert. Its second insert must move
   * it to a later position.
   */
  @Test
  void secondInsertMovesReadDocument() {
    Lane lane = new Lane(1, new BsonTimestamp(HORIZON, 1));
    lane.wrote(document(1), new BsonTimestamp(150, 1));
    there.add(1);
    assertThat(
            planned(
                lane,
                Set.of(),
                event(120, "update", 1),
                event(121, "delete", 1),
                event(122, "insert", 2),
                event(123, "insert", 1),
                event(124, "update", 1),
                event(125, "insert", 3)))
        .containsExactly(
            "delete {\"_id\": 1}; insert {\"_id\": 2}",
            "delete {\"_id\": 1}; put {\"_id\": 1} {\"_id\": 1, \"later\": 1}",
            "insert {\"_id\": 3}");
  }

  /** If a batch is planned again, the first plan may have written some of its documents already. */
  @Test
  void repeatedPlanKeepsOrder() {
    there.add(1);
    there.add(2);
    assertThat(
            planned(
                new Lane(1, new BsonTimestamp(HORIZON, 1)),
                Set.of(document(1)),
                event(101, "insert", 2),
                event(102, "update", 1),
                event(103, "delete", 1),
                event(104, "insert", 3),
                event(105, "insert", 1)))
        .containsExactly(
            "delete {\"_id\": 2}; insert {\"_id\": 2}; put {\"_id\": 1} {\"_id\": 1, \"later\": 1}",
            "delete {\"_id\": 1}; delete {\"_id\": 3}",
            "delete {\"_id\": 1}; put {\"_id\": 1} {\"_id\": 1, \"later\": 1}");
  }
}
