package dev.onehop.copy.internal.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.progress.CopyException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** A fence has to write to each shard of the destination that can store documents. */
class FenceOfShardsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final String CHUNKS = "config.chunks";
  private static final BsonDocument INSERT =
      BsonDocument.parse("{insert: 'c', documents: [{_id: 1}]}");

  private ScriptedReplicaSet mongos;
  private MongoClient client;

  @BeforeEach
  void connect() {
    mongos = new ScriptedReplicaSet().asMongos();
    client = MongoClients.create(mongos.url());
    mongos.store("config.shards", "{_id: 's0'}", "{_id: 's1'}", "{_id: 's2', draining: true}");
    mongos.script(this::metadata);
  }

  @AfterEach
  void close() {
    client.close();
    mongos.close();
  }

  /** Changes the metadata as a real cluster would after this command. */
  private @Nullable BsonDocument metadata(BsonDocument command) {
    switch (command.getFirstKey()) {
      case "shardCollection" -> {
        mongos.store("config.collections", "{_id: 's.fences', key: {_id: 1}}");
        mongos.store(
            CHUNKS,
            "{_id: 0, ns: 's.fences', min: {_id: {$minKey: 1}}, max: {_id: {$maxKey: 1}}, shard: 's0'}");
      }
      case "split" -> split(command.getDocument("middle"));
      case "moveChunk" -> move(command.getDocument("find"), command.getString("to"));
      default -> {
        return null;
      }
    }
    return BsonDocument.parse("{ok: 1}");
  }

  private void split(BsonDocument at) {
    BsonDocument last = mongos.stored(CHUNKS).get(mongos.stored(CHUNKS).size() - 1);
    BsonDocument upper =
        last.clone().append("_id", new BsonInt32(mongos.stored(CHUNKS).size())).append("min", at);
    Iterable<BsonDocument> all = mongos.stored(CHUNKS);
    mongos.clear(CHUNKS);
    all.forEach(
        chunk ->
            mongos.store(CHUNKS, chunk.equals(last) ? chunk.clone().append("max", at) : chunk));
    mongos.store(CHUNKS, upper);
  }

  private void move(BsonDocument min, BsonString shard) {
    Iterable<BsonDocument> all = mongos.stored(CHUNKS);
    mongos.clear(CHUNKS);
    all.forEach(
        chunk ->
            mongos.store(
                CHUNKS,
                chunk.getDocument("min").equals(min) ? chunk.append("shard", shard) : chunk));
  }

  /** The shard that has a document of the fence. */
  private String shardOf(BsonValue id) {
    for (BsonDocument chunk : mongos.stored(CHUNKS)) {
      BsonValue min = chunk.getDocument("min").get("_id");
      BsonValue max = chunk.getDocument("max").get("_id");
      int number = id.asInt32().getValue();
      if ((!min.isInt32() || min.asInt32().getValue() <= number)
          && (!max.isInt32() || number < max.asInt32().getValue())) {
        return chunk.getString("shard").getValue();
      }
    }
    throw new AssertionError("no chunk has " + id);
  }

  /** The number of times that a lane was raised, by shard. */
  private Map<String, Integer> raised() {
    Map<String, Integer> raised = new TreeMap<>();
    for (BsonDocument update : mongos.seen("update")) {
      BsonDocument statement = update.getArray("updates").get(0).asDocument();
      raised.merge(shardOf(statement.getDocument("q").get("_id")), 1, Integer::sum);
    }
    return raised;
  }

  private Fence.Lane raise(long term) {
    return new Fence(client, client.getDatabase("s"), "j", Mono.empty())
        .raise(0, term)
        .block(TIMEOUT);
  }

  @Test
  void eachRemainingShardHasPlace() {
    raise(1).close();
    assertThat(raised()).isEqualTo(Map.of("s0", 1, "s1", 1));
    assertThat(mongos.seen("shardCollection")).hasSize(1);
  }

  @Test
  void laterOwnerUsesExistingPlaces() {
    raise(1).close();
    raise(2).close();
    assertThat(raised()).isEqualTo(Map.of("s0", 2, "s1", 2));
    assertThat(mongos.seen("shardCollection")).hasSize(1);
    assertThat(mongos.seen("moveChunk")).hasSize(1);
  }

  /** A shard was being removed when the lanes were raised, and accepts documents again later. */
  @Test
  void raisesLaneOnShardThatStaysAfterAll() {
    Fence.Lane before = raise(1);
    Fence.Lane after = raise(2);
    mongos.clear("config.shards");
    mongos.store("config.shards", "{_id: 's0'}", "{_id: 's1'}", "{_id: 's2'}");
    after.write("d", INSERT).block(TIMEOUT);
    assertThat(raised()).containsEntry("s2", 1);
    assertThat(mongos.stored("d.c")).hasSize(1);
    assertThatThrownBy(() -> before.write("d", INSERT).block(TIMEOUT))
        .isInstanceOf(CopyException.class)
        .hasMessageContaining("another process has taken the job over");
    before.close();
    after.close();
  }

  /**
   * A document of the fence may have moved while it was written, so the write may not have reached
   * its old shard. Then the lane is raised again.
   */
  @Test
  void raisesLaneAgainIfPlacesMoved() {
    raise(1).close();
    AtomicInteger updates = new AtomicInteger();
    mongos.script(
        command -> {
          if (command.getFirstKey().equals("update") && updates.getAndIncrement() == 0) {
            BsonDocument chunk = mongos.stored(CHUNKS).get(0);
            move(chunk.getDocument("min"), new BsonString("s1"));
            move(mongos.stored(CHUNKS).get(1).getDocument("min"), new BsonString("s0"));
          }
          return metadata(command);
        });
    raise(2).close();
    assertThat(mongos.seen("update")).hasSize(6);
    assertThat(mongos.seen("update").get(5).getInt64("txnNumber").getValue())
        .isGreaterThan(mongos.seen("update").get(3).getInt64("txnNumber").getValue());
  }
}
