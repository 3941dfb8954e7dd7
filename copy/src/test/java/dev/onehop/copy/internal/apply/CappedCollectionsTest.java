package dev.onehop.copy.internal.apply;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The channels of the events of capped collections, in successive processes. */
class CappedCollectionsTest {
  private static final String CAPPED = "{$uuid: '00000000-0000-4000-8000-000000000001'}";
  private static final String LATER = "{$uuid: '00000000-0000-4000-8000-000000000002'}";
  private static final String USUAL = "{$uuid: '00000000-0000-4000-8000-000000000003'}";

  private ScriptedReplicaSet source;
  private ScriptedReplicaSet destination;
  private MongoClient sourceClient;
  private MongoClient destinationClient;

  @BeforeEach
  void connect() {
    source = new ScriptedReplicaSet();
    destination = new ScriptedReplicaSet();
    sourceClient = MongoClients.create(source.url());
    destinationClient = MongoClients.create(destination.url());
    exists(true);
  }

  @AfterEach
  void close() {
    sourceClient.close();
    destinationClient.close();
    source.close();
    destination.close();
  }

  private void exists(boolean capped) {
    source.script(
        command ->
            switch (command.getFirstKey()) {
              case "listDatabases" -> BsonDocument.parse("{ok: 1, databases: [{name: 'd'}]}");
              case "listCollections" ->
                  capped
                      ? ScriptedReplicaSet.cursor("{name: 'c', info: {uuid: %s}}".formatted(CAPPED))
                      : null;
              default -> null;
            });
    destination.script(
        command ->
            // The filter of the find is ignored: this test stores only documents that match it.
            command.getFirstKey().equals("find")
                ? ScriptedReplicaSet.cursor(
                    destination.stored("s.created").stream()
                        .map(BsonDocument::toJson)
                        .toArray(String[]::new))
                : null);
  }

  private CappedCollections found() {
    CappedCollections capped =
        new CappedCollections(
            sourceClient,
            destinationClient.getDatabase("s").getCollection("created", BsonDocument.class),
            Mapping.ALL,
            12);
    capped.find().block(Duration.ofSeconds(20));
    return capped;
  }

  private static Set<Integer> channels(CappedCollections capped, String uuid) {
    Set<Integer> channels = new TreeSet<>();
    for (int id = 0; id < 100; id++) {
      channels.add(
          capped.channel(
              RawBsonDocument.parse(
                  "{operationType: 'insert', ns: {db: 'd', coll: 'c'}, collectionUUID: %s,"
                          .formatted(uuid)
                      + " documentKey: {_id: %d}}".formatted(id))));
    }
    return channels;
  }

  @Test
  void cappedCollectionUsesOneChannel() {
    CappedCollections capped = found();
    assertThat(channels(capped, CAPPED)).hasSize(1);
    assertThat(channels(capped, USUAL)).hasSizeGreaterThan(6);
  }

  /**
   * The collection may be dropped between the two processes, while some of its events are not
   * applied yet. The second process must still send them to the same channel.
   */
  @Test
  void nextProcessKeepsChannelOfDroppedCollection() {
    Set<Integer> before = channels(found(), CAPPED);
    exists(false);
    assertThat(channels(found(), CAPPED)).isEqualTo(before);
  }

  @Test
  void createEventAddsCappedCollection() {
    CappedCollections capped = found();
    assertThat(channels(capped, LATER)).hasSizeGreaterThan(6);
    capped.channel(
        RawBsonDocument.parse(
            "{operationType: 'create', ns: {db: 'd', coll: 'l'}, collectionUUID: %s,"
                    .formatted(LATER)
                + " operationDescription: {capped: true, size: 4096}}"));
    assertThat(channels(capped, LATER)).hasSize(1);
  }
}
