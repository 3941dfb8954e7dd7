package dev.onehop.copy.internal.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.MongoNamespace;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.copy.internal.apply.BatchWriter.OccupiedException;
import dev.onehop.copy.internal.apply.BatchWriter.UnmatchedException;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.streams.mirror.FieldChanges;
import dev.onehop.streams.mirror.FieldUpdates;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** The commands of a batch, and the handling of their replies. */
class BatchWriterTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Target PLAIN = target();
  private static final Target SHARDED = target("k");

  private ScriptedReplicaSet server;
  private MongoClient client;
  private Fence.Lane lane;

  @BeforeEach
  void connect() {
    server = new ScriptedReplicaSet();
    client = MongoClients.create(server.url());
    lane = new Fence(client, client.getDatabase("s"), "j", Mono.empty()).raise(0, 1).block(TIMEOUT);
  }

  @AfterEach
  void close() {
    lane.close();
    client.close();
    server.close();
  }

  private static Target target(String... shardKey) {
    return new Target(new MongoNamespace("d.c"), List.of(shardKey), false, false);
  }

  private static RawBsonDocument document(String json) {
    return RawBsonDocument.parse(json);
  }

  private static BsonDocument json(String json) {
    return BsonDocument.parse(json);
  }

  private static Statement update(int id, String update) {
    return PLAIN.update(
        new BsonInt32(id),
        FieldUpdates.of(json("{_id: %d}".formatted(id)), List.of(FieldChanges.of(json(update))))
            .get(0));
  }

  private void write(Target target, Statement... statements) {
    BatchPlan plan = new BatchPlan();
    for (Statement each : statements) {
      plan.add(target, 0, new Lane.Document("c", Target.key(each.id())), List.of(each));
    }
    new BatchWriter(client).write(lane, plan).block(TIMEOUT);
  }

  /** The write commands of the batch, without the writes of the fence. */
  private List<BsonDocument> sent() {
    List<BsonDocument> all = new ArrayList<>();
    for (String command : List.of("delete", "insert", "update")) {
      server.asWritten(command).stream()
          .filter(each -> each.getString(command).getValue().equals("c"))
          .forEach(all::add);
    }
    return all;
  }

  @Test
  void writesOneCommandOfEachKind() {
    server.store("d.c", "{_id: 1}", "{_id: 2, a: 0}", "{_id: 3}");
    write(
        PLAIN,
        PLAIN.deleteOthers(new BsonInt32(1), List.of()),
        update(2, "{updatedFields: {a: 1}}"),
        PLAIN.insert(document("{_id: 4}")),
        PLAIN.put(document("{_id: 3, a: 3}")),
        PLAIN.insert(document("{_id: 5}")));
    String rest = "ordered: false, bypassDocumentValidation: true, writeConcern: {w: 'majority'}}";
    assertThat(sent())
        .containsExactly(
            json(
                "{delete: 'c', deletes: [{q: {_id: 1}, limit: 1}], ordered: false,"
                    + " writeConcern: {w: 'majority'}}"),
            json("{insert: 'c', documents: [{_id: 4}, {_id: 5}], " + rest),
            json(
                "{update: 'c', updates: [{q: {_id: 2}, u: {$set: {a: 1}}},"
                    + " {q: {_id: 3}, u: {_id: 3, a: 3}, upsert: true}], "
                    + rest));
    assertThat(server.stored("d.c"))
        .containsExactlyInAnyOrder(
            json("{_id: 2, a: 1}"), json("{_id: 3, a: 3}"), json("{_id: 4}"), json("{_id: 5}"));
  }

  /**
   * When another process takes the lane, it applies some events again. So a document that an event
   * inserts may exist already.
   */
  @Test
  void insertReplacesExistingDocument() {
    server.store("d.c", "{_id: 1, a: 'old'}");
    write(PLAIN, PLAIN.insert(document("{_id: 1, a: 'new'}")), PLAIN.insert(document("{_id: 2}")));
    assertThat(server.stored("d.c")).containsExactly(json("{_id: 1, a: 'new'}"), json("{_id: 2}"));
  }

  @Test
  void reportsUpdateOfMissingDocument() {
    server.store("d.c", "{_id: 1}");
    assertThatThrownBy(
            () ->
                write(
                    PLAIN,
                    update(1, "{updatedFields: {a: 1}}"),
                    update(2, "{updatedFields: {a: 1}}")))
        .isInstanceOf(UnmatchedException.class)
        .hasMessage("d.c: 1 of 2 documents are missing");
    assertThat(server.stored("d.c")).containsExactly(json("{_id: 1, a: 1}"));
  }

  @Test
  void acceptsDeleteOfMissingDocument() {
    write(PLAIN, PLAIN.deleteOthers(new BsonInt32(1), List.of()));
    assertThat(sent()).hasSize(1);
  }

  /**
   * A mongos sends a delete without the shard key to all shards; such a delete can't be retried.
   */
  @Test
  void deletesWithShardKey() {
    server.store("d.c", "{_id: 1, k: 5}", "{_id: 2, k: 6}");
    write(SHARDED, SHARDED.deleteOthers(new BsonInt32(1), List.of()));
    assertThat(server.stored("d.c")).containsExactly(json("{_id: 2, k: 6}"));
    assertThat(sent())
        .containsExactly(
            json(
                "{delete: 'c', deletes: [{q: {_id: 1, k: 5}, limit: 1}],"
                    + " ordered: false, writeConcern: {w: 'majority'}}"));
  }

  @Test
  void findsDocumentWithConflictingValue() {
    server.store("d.c", "{_id: 9, u: 5}");
    server.script(
        command ->
            switch (command.getFirstKey()) {
              case "update" ->
                  json(
                      "{ok: 1, n: 0, writeErrors: [{index: 0, code: 11000, errmsg: 'E11000 u',"
                          + " keyPattern: {u: 1}, keyValue: {u: 5}}]}");
              case "listIndexes" ->
                  ScriptedReplicaSet.cursor(
                      "{v: 2, key: {_id: 1}, name: '_id_'}",
                      "{v: 2, key: {u: 1}, name: 'u_1', unique: true}");
              default -> null;
            });
    OccupiedException occupied =
        catchThrowableOfType(
            OccupiedException.class, () -> write(PLAIN, update(1, "{updatedFields: {u: 5}}")));
    assertThat(new BatchWriter(client).occupants(occupied).block(TIMEOUT))
        .containsExactly(new BsonInt32(9));
  }

  @Test
  void limitsSizeOfCommands() {
    // The script replies without storing documents, because the server would compare each new
    // document with all earlier ones.
    server.script(
        command ->
            command.containsKey("insert")
                ? json("{ok: 1, n: %d}".formatted(command.getArray("documents").size()))
                : null);
    List<Statement> inserts = new ArrayList<>();
    for (int id = 0; id < 5_001; id++) {
      inserts.add(PLAIN.insert(document("{_id: %d}".formatted(id))));
    }
    write(PLAIN, inserts.toArray(Statement[]::new));
    assertThat(sent())
        .extracting(insert -> insert.getArray("documents").size())
        .containsExactly(5_000, 1);
  }
}
