package dev.onehop.copy.internal.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoClientSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.streams.channel.ChannelBatch;
import dev.onehop.streams.channel.FencedException;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/**
 * Batches of events that are applied. One server is both the source, with the database {@code d},
 * and the destination, with the database {@code x}. The collections of {@code x} have a unique
 * index of the field {@code u}.
 */
class ApplySinkTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final Set<CopyOperation> ALL = EnumSet.allOf(CopyOperation.class);
  private static final int NOW = 200;
  private static final String PRESENT = ", clusterTime: {$timestamp: {t: %d, i: 1}}".formatted(NOW);

  private ScriptedReplicaSet server;
  private MongoClient client;

  @BeforeEach
  void connect() {
    server = new ScriptedReplicaSet();
    client = MongoClients.create(server.url());
    server.script(this::structure);
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private @Nullable BsonDocument structure(BsonDocument command) {
    return switch (command.getFirstKey()) {
      case "listDatabases" ->
          BsonDocument.parse(
              "{ok: 1, databases: [], $clusterTime: {clusterTime: {$timestamp: {t: %d, i: 1}}}}"
                  .formatted(NOW));
      case "listCollections" -> ScriptedReplicaSet.cursor("{name: 'c'}");
      case "listIndexes" ->
          ScriptedReplicaSet.cursor("{v: 2, key: {u: 1}, name: 'u_1', unique: true}");
      case "insert" -> refused(command.getArray("documents").get(0).asDocument());
      case "update" -> refused(command.getArray("updates").get(0).asDocument().get("u"));
      default -> null;
    };
  }

  /** Refuses a document whose value of {@code u} another document has. */
  private @Nullable BsonDocument refused(@Nullable BsonValue written) {
    if (!(written instanceof BsonDocument document) || !document.containsKey("u")) {
      return null;
    }
    return server.stored("x.c").stream()
            .allMatch(
                other ->
                    !document.get("u").equals(other.get("u"))
                        || document.get("_id").equals(other.get("_id")))
        ? null
        : BsonDocument.parse(
            "{ok: 1, n: 0, writeErrors: [{index: 0, code: 11000, errmsg: 'dup key',"
                + " keyPattern: {u: 1}, keyValue: {u: %s}}]}"
                    .formatted(document.getNumber("u").intValue()));
  }

  /** A sink in a term of its only channel. */
  private record Begun(ApplySink sink, long term) {
    void write(StreamEvent.Change... events) {
      Checkpoint place = Checkpoint.before(new BsonTimestamp(NOW));
      Mono.from(sink.write(new ChannelBatch(0, term, List.of(events), place))).block(TIMEOUT);
    }
  }

  /**
   * @param changed whether the source has further events of the document that has a unique value
   */
  private Begun begin(long term, Set<CopyOperation> operations, Mapping mapping, boolean changed) {
    MongoDatabase state = client.getDatabase("s");
    MongoCollection<BsonDocument> created = state.getCollection("created.j", BsonDocument.class);
    ApplySink sink =
        new ApplySink(
            new Applier.Settings(
                MongoClientSettings.builder().build(),
                client,
                client,
                state,
                "j",
                new BsonTimestamp(1),
                mapping,
                operations,
                /* creations= */ true,
                new Applier.Pace(1, 50, Duration.ofSeconds(2))),
            new Fence(client, state, "j", Mono.empty()),
            new SourceReads(client),
            new CappedCollections(client, created, mapping, 1),
            new SchemaChanges(client, created, mapping),
            (event, until) -> Mono.just(changed));
    Mono.from(sink.begin(0, term)).block(TIMEOUT);
    return new Begun(sink, term);
  }

  private Begun begin(Mapping mapping) {
    return begin(1, ALL, mapping, false);
  }

  private Begun begin(boolean changed) {
    return begin(1, ALL, renamed(Map.of()), changed);
  }

  private static Mapping renamed(Map<String, BsonDocument> filters) {
    return new Mapping(List.of("d"), List.of("d.left"), Map.of("d", "x"), filters, null);
  }

  /** An event at the present time of the source, so that its document may be newer already. */
  private static StreamEvent.Change event(String type, String collection, String more) {
    RawBsonDocument event =
        RawBsonDocument.parse(
            "{operationType: '%s', ns: {db: 'd', coll: '%s'}, %s}"
                .formatted(type, collection, more + PRESENT));
    return new StreamEvent.Change("s0", "", event, 0, Checkpoint.before(new BsonTimestamp(NOW)));
  }

  private static StreamEvent.Change event(String type, String more) {
    return event(type, "c", more);
  }

  private static StreamEvent.Change insert(String document) {
    return event(
        "insert",
        "documentKey: {_id: %s}, fullDocument: %s"
            .formatted(BsonDocument.parse(document).getInt32("_id").getValue(), document));
  }

  /** An update that can't be repeated, so that its document is read from the source. */
  private static StreamEvent.Change update(int id) {
    return event(
        "update",
        "documentKey: {_id: %d}, updateDescription: {updatedFields: {}, removedFields: ['a']}"
            .formatted(id));
  }

  private void assertStored(String... documents) {
    assertThat(server.stored("x.c"))
        .containsExactlyInAnyOrderElementsOf(
            Stream.of(documents).map(BsonDocument::parse).toList());
  }

  /**
   * The source has deleted both documents, one of them after an update, and has dropped the
   * collection.
   */
  @Test
  void appliesOnlySelectedOperations() {
    server.store("x.c", "{_id: 1, n: 1}", "{_id: 2, n: 1}");
    EnumSet<CopyOperation> some = EnumSet.of(CopyOperation.INSERT, CopyOperation.UPDATE);
    writeRemovals(begin(1, some, renamed(Map.of()), false));
    assertStored("{_id: 1, n: 1}", "{_id: 2, n: 1}", "{_id: 3}");
    assertThat(server.seen("drop")).isEmpty();
    writeRemovals(begin(2, ALL, renamed(Map.of()), false));
    assertStored("{_id: 3}");
    assertThat(server.seen("drop")).hasSize(1);
  }

  private static void writeRemovals(Begun sink) {
    sink.write(update(1), event("delete", "documentKey: {_id: 1}"), insert("{_id: 3}"));
    sink.write(event("delete", "documentKey: {_id: 2}"));
    sink.write(event("drop", "collectionUUID: {$uuid: '00000000-0000-4000-8000-000000000001'}"));
  }

  @Test
  void ignoresExcludedCollection() {
    begin(renamed(Map.of()))
        .write(
            event("insert", "left", "documentKey: {_id: 1}, fullDocument: {_id: 1}"),
            insert("{_id: 2}"));
    assertStored("{_id: 2}");
    assertThat(server.seen("insert")).hasSize(1);
  }

  /** The documents match the filter only before or only after the updates. */
  @Test
  void filterDecidesWhichDocumentsAreCopied() {
    server.store("d.c", "{_id: 1, n: 2}", "{_id: 2, n: 8}");
    server.store("x.c", "{_id: 1, n: 9}");
    begin(renamed(Map.of("d.c", BsonDocument.parse("{n: {$gte: 5}}")))).write(update(1), update(2));
    assertStored("{_id: 2, n: 8}");
  }

  @Test
  void transformationMayLeaveDocumentsOut() {
    server.store("d.c", "{_id: 1, n: 1}", "{_id: 2, drop: 1}");
    server.store("x.c", "{_id: 1}", "{_id: 2}");
    Mapping mapping =
        new Mapping(
            List.of(),
            List.of(),
            Map.of("d", "x"),
            Map.of(),
            (namespace, document) ->
                document.containsKey("drop")
                    ? null
                    : BsonDocument.parse(document.toJson()).append("seen", new BsonInt32(1)));
    begin(mapping).write(update(1), update(2), insert("{_id: 3, drop: 1}"));
    assertStored("{_id: 1, n: 1, seen: 1}");
  }

  /** The source's document 1 has the value that the destination's document 2 still has. */
  @Test
  void writesOwnerOfUniqueValueFirst() {
    server.store("d.c", "{_id: 1, u: 7}", "{_id: 2, u: 8}");
    server.store("x.c", "{_id: 2, u: 7}");
    begin(true).write(update(1));
    assertStored("{_id: 1, u: 7}", "{_id: 2, u: 8}");
  }

  @Test
  void removesOwnerThatSourceHasDeleted() {
    server.store("d.c", "{_id: 1, u: 7}");
    server.store("x.c", "{_id: 2, u: 7}");
    begin(true).write(update(1));
    assertStored("{_id: 1, u: 7}");
  }

  /** Without an event that deletes it, the owner was not copied from the source. */
  @Test
  void rejectsOwnerThatSourceNeverHad() {
    server.store("d.c", "{_id: 1, u: 7}");
    server.store("x.c", "{_id: 2, u: 7}");
    Begun sink = begin(false);
    assertThatThrownBy(() -> sink.write(update(1)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage(
            "the destination's document {\"_id\": 2} is not from the source, and has a unique value"
                + " that another document needs: remove it, and resume (dup key)");
    assertStored("{_id: 2, u: 7}");
    server.clear("x.c");
    sink.write(update(1));
    assertStored("{_id: 1, u: 7}");
  }

  @Test
  void laterTermFencesWrites() {
    Begun old = begin(true);
    begin(2, ALL, renamed(Map.of()), true);
    assertThatThrownBy(() -> old.write(insert("{_id: 1}"))).isInstanceOf(FencedException.class);
    assertStored();
  }
}
