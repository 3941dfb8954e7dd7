package dev.onehop.copy.internal.full;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.progress.CopyException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** The documents of the destination after batches that were written once or twice. */
class CopyWriterTest {
  private static final String THERE = "e.c";

  @AutoClose private final ScriptedReplicaSet origin = new ScriptedReplicaSet();
  @AutoClose private final ScriptedReplicaSet server = new ScriptedReplicaSet();
  @AutoClose private final ClusterEnd source = origin.connect("source");
  @AutoClose private final ClusterEnd destination = server.connect("destination");
  private Fence.Lane lane;
  private CopyWriter writer;

  @BeforeEach
  void connect() throws InterruptedException {
    lane =
        new Fence(destination.client(), destination.database("s"), "j", Mono.empty())
            .raise(0, 1)
            .block(Duration.ofSeconds(20));
    writer = new CopyWriter(source, destination, Mapping.ALL);
  }

  @AfterEach
  void close() {
    lane.close();
  }

  private static CollectionSpec spec(String options) {
    return new CollectionSpec(
        "d.c",
        THERE,
        CollectionSpec.Kind.COLLECTION,
        null,
        BsonDocument.parse(options),
        List.of(),
        null);
  }

  private static List<RawBsonDocument> documents(String... json) {
    List<RawBsonDocument> documents = new ArrayList<>();
    for (String each : json) {
      documents.add(RawBsonDocument.parse(each));
    }
    return documents;
  }

  private static BsonDocument json(String json) {
    return BsonDocument.parse(json);
  }

  @Test
  void writesBatchAsOneMajorityCommand() throws InterruptedException {
    writer.write(lane, spec("{}"), documents("{_id: 1, a: 1}", "{_id: 2}"));
    assertThat(server.asWritten("insert"))
        .containsExactly(
            json(
                "{insert: 'c', documents: [{_id: 1, a: 1}, {_id: 2}], ordered: false,"
                    + " bypassDocumentValidation: true, writeConcern: {w: 'majority'}}"));
    assertThat(server.stored(THERE)).containsExactly(json("{_id: 1, a: 1}"), json("{_id: 2}"));
  }

  /**
   * A document that the destination already has is never older than the copied document, so it is
   * not overwritten.
   */
  @Test
  void keepsExistingDocuments() throws InterruptedException {
    server.store(THERE, "{_id: 2, a: 'newer'}");
    writer.write(lane, spec("{}"), documents("{_id: 1, a: 1}", "{_id: 2, a: 2}", "{_id: 3, a: 3}"));
    assertThat(server.stored(THERE))
        .containsExactlyInAnyOrder(
            json("{_id: 1, a: 1}"), json("{_id: 2, a: 'newer'}"), json("{_id: 3, a: 3}"));
  }

  @Test
  void keepsOrderInCappedCollection() throws InterruptedException {
    server.store(THERE, "{_id: 2}");
    writer.write(
        lane, spec("{capped: true, size: 4096}"), documents("{_id: 3}", "{_id: 2}", "{_id: 1}"));
    assertThat(server.stored(THERE))
        .containsExactly(json("{_id: 2}"), json("{_id: 3}"), json("{_id: 1}"));
    assertThat(server.asWritten("insert"))
        .extracting(insert -> insert.getBoolean("ordered").getValue())
        .containsOnly(true);
  }

  /**
   * After a document was copied, its value of a unique index has moved to another document of the
   * source.
   */
  @Test
  void readsSourceAgainAfterDuplicateKey() throws InterruptedException {
    String refusal =
        "{ok: 1, n: 0, writeErrors: [{index: 0, code: 11000, errmsg: 'E11000 u', keyPattern: {u: 1},"
            + " keyValue: {u: 5}}]}";
    server.script(
        command ->
            command.getFirstKey().equals("insert") && server.seen("insert").size() <= 2
                ? json(refusal)
                : null);
    origin.store("d.c", "{_id: 1, u: 6}");
    writer.write(lane, spec("{}"), documents("{_id: 1, u: 5}"));
    assertThat(server.stored(THERE)).containsExactly(json("{_id: 1, u: 6}"));
  }

  @Test
  void otherErrorFailsCopy() {
    server.script(
        command ->
            command.getFirstKey().equals("insert")
                ? json("{ok: 1, n: 0, writeErrors: [{index: 0, code: 121, errmsg: 'is invalid'}]}")
                : null);
    assertThatThrownBy(() -> writer.write(lane, spec("{}"), documents("{_id: 1}")))
        .isInstanceOf(CopyException.class)
        .hasMessage("e.c: is invalid");
  }

  @Test
  void clearsAllDocuments() throws InterruptedException {
    for (int id = 0; id < 1_500; id++) {
      server.store(THERE, "{_id: %d}".formatted(id));
    }
    writer.clear(lane, spec("{}"));
    assertThat(server.stored(THERE)).isEmpty();
    assertThat(server.seen("delete")).hasSize(2);
  }

  @Test
  void splitsLargeBatchIntoSeveralCommands() throws InterruptedException {
    String large = "x".repeat(5_000_000);
    writer.write(
        lane,
        spec("{}"),
        documents(
            "{_id: 1, a: '%s'}".formatted(large),
            "{_id: 2, a: '%s'}".formatted(large),
            "{_id: 3, a: '%s'}".formatted(large)));
    assertThat(server.seen("insert"))
        .extracting(insert -> insert.getArray("documents").size())
        .containsExactly(2, 1);
  }
}
