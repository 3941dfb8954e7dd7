package dev.onehop.shards.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.core.table.RoutingTable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Loads that take long, break, or read a collection that changes during the load. */
class LongLoadTest {
  private static final int CHUNKS = 40;
  private static final int BATCH = 4;
  private static final Duration SOON = Duration.ofSeconds(8);

  private final FakeConfig config = new FakeConfig();
  private final List<BsonDocument> reads = new ArrayList<>();

  @BeforeEach
  void manyChunks() {
    config.collections.put("collections", List.of(collection("{_id: 1}", 1)));
    config.collections.put("chunks", chunks("_id"));
  }

  @Test
  void continuesWhileBatchesArrive() {
    StepVerifier.withVirtualTime(
            () ->
                catalog((filter, batches) -> batches.delayElements(Duration.ofSeconds(9)))
                    .table("d.c"))
        .thenAwait(Duration.ofSeconds(200))
        .assertNext(LongLoadTest::assertComplete)
        .verifyComplete();
  }

  @Test
  void failsIfNoFurtherBatchArrives() {
    StepVerifier.withVirtualTime(
            () ->
                catalog(
                        (filter, batches) ->
                            (reads.size() == 1 ? batches.take(1) : Flux.<List<BsonDocument>>empty())
                                .concatWith(Mono.never()))
                    .table("d.c"))
        .thenAwait(Duration.ofSeconds(60))
        .expectError()
        .verify(SOON);
  }

  @Test
  void resumesAfterBrokenRead() {
    AtomicInteger tries = new AtomicInteger();

    RoutingTable table =
        catalog(
                (filter, batches) ->
                    tries.incrementAndGet() < 4
                        ? batches.take(3).concatWith(Mono.error(new IOException("broken")))
                        : batches)
            .table("d.c")
            .block(SOON);

    assertComplete(table);
    assertThat(reads).hasSize(4);
    assertThat(reads.get(3).getDocument("lastmod").getTimestamp("$gt"))
        .isEqualTo(new BsonTimestamp(1, 9 * BATCH - 1));
  }

  @Test
  void failsIfReadBreaksWithoutProgress() {
    assertThatThrownBy(
            () ->
                catalog((filter, batches) -> Flux.error(new IOException("broken")))
                    .table("d.c")
                    .block(SOON))
        .hasRootCauseInstanceOf(IOException.class);
    assertThat(reads).hasSize(1);
  }

  @Test
  void includesChunksChangedDuringLoad() {
    RoutingTable table =
        catalog(
                (filter, batches) ->
                    batches
                        .take(5)
                        .doOnComplete(this::moveFirstAndSplitSecond)
                        .concatWith(
                            Flux.defer(() -> Flux.fromIterable(config.collections.get("chunks")))
                                .skip(5 * BATCH)
                                .buffer(BATCH)))
            .table("d.c")
            .block(SOON);

    assertThat(table.chunkCount()).isEqualTo(CHUNKS + 1);
    assertThat(table.shardOfChunk(0)).isEqualTo("s9");
    assertThat(table.shardOfChunk(2)).isEqualTo("s8");
  }

  private void moveFirstAndSplitSecond() {
    List<BsonDocument> now = new ArrayList<>(config.collections.get("chunks"));
    now.add(chunk("_id", new BsonMinKey(), new BsonInt32(1), "s9", 2, 0));
    now.add(chunk("_id", new BsonInt32(1), new BsonDouble(1.5), "s1", 2, 1));
    now.add(chunk("_id", new BsonDouble(1.5), new BsonInt32(2), "s8", 2, 2));
    config.collections.put("chunks", now);
  }

  @Test
  void reloadsAfterRefinedShardKey() {
    RoutingTable table =
        catalog(
                (filter, batches) -> {
                  if (reads.size() == 1) {
                    refine();
                    return Flux.fromIterable(config.collections.get("chunks")).buffer(BATCH);
                  }
                  return batches;
                })
            .table("d.c")
            .block(SOON);

    assertThat(table.shardKeyPattern().paths()).containsExactly("_id", "x");
    assertThat(table.chunkCount()).isEqualTo(CHUNKS);
  }

  @Test
  void refreshReloadsAfterRefinedShardKey() {
    RoutingCatalog catalog =
        catalog(
            (filter, batches) -> {
              if (reads.size() == 2) {
                refine();
                return Flux.fromIterable(config.collections.get("chunks")).buffer(BATCH);
              }
              return batches;
            });
    RoutingTable before = catalog.table("d.c").block(SOON);

    RoutingTable table = catalog.refresh("d.c", before).block(SOON);

    assertThat(table.shardKeyPattern().paths()).containsExactly("_id", "x");
  }

  private void refine() {
    List<BsonDocument> refined = new ArrayList<>();
    for (BsonDocument chunk : chunks("_id")) {
      chunk.getDocument("min").append("x", new BsonMinKey());
      boolean last = chunk.getDocument("max").get("_id") instanceof BsonMaxKey;
      chunk.getDocument("max").append("x", last ? new BsonMaxKey() : new BsonMinKey());
      refined.add(chunk);
    }
    config.collections.put("chunks", refined);
    config.collections.put("collections", List.of(collection("{_id: 1, x: 1}", 2)));
  }

  @Test
  void failsOnOutOfMemoryError() {
    RoutingCatalog catalog =
        catalog(
            (filter, batches) ->
                batches.publishOn(Schedulers.parallel()).map(batch -> List.of(new Unreadable())));

    assertThatThrownBy(() -> catalog.table("d.c").block(SOON))
        .hasMessageContaining("OutOfMemoryError");
  }

  private static final class Unreadable extends BsonDocument {
    private static final long serialVersionUID = 1L;

    @Override
    public BsonValue get(Object key) {
      throw new OutOfMemoryError("as if");
    }
  }

  private static void assertComplete(RoutingTable table) {
    assertThat(table.chunkCount()).isEqualTo(CHUNKS);
    assertThat(table.version().minor()).isEqualTo(CHUNKS - 1);
  }

  private RoutingCatalog catalog(
      BiFunction<BsonDocument, Flux<List<BsonDocument>>, Flux<List<BsonDocument>>> chunkReads) {
    return new RoutingCatalog(
        find -> {
          Flux<List<BsonDocument>> batches =
              config.batches(find).flatMapIterable(Function.identity()).buffer(BATCH);
          if (!find.getString("find").getValue().equals("chunks")) {
            return batches;
          }
          BsonDocument filter = find.getDocument("filter");
          reads.add(filter);
          return chunkReads.apply(filter, batches);
        },
        RoutingCatalog.RefreshListener.NONE);
  }

  private static BsonDocument collection(String key, int incarnation) {
    return BsonDocument.parse("{_id: 'd.c', uuid: {$uuid: '00000000-0000-4000-8000-000000000001'}}")
        .append("lastmodEpoch", new BsonObjectId())
        .append("timestamp", new BsonTimestamp(incarnation, 1))
        .append("key", BsonDocument.parse(key));
  }

  private static List<BsonDocument> chunks(String field) {
    List<BsonDocument> chunks = new ArrayList<>();
    for (int i = 0; i < CHUNKS; i++) {
      BsonValue min = i == 0 ? new BsonMinKey() : new BsonInt32(i);
      BsonValue max = i == CHUNKS - 1 ? new BsonMaxKey() : new BsonInt32(i + 1);
      chunks.add(chunk(field, min, max, "s" + i % 3, 1, i));
    }
    return chunks;
  }

  private static BsonDocument chunk(
      String field, BsonValue min, BsonValue max, String shard, int major, int minor) {
    return BsonDocument.parse("{uuid: {$uuid: '00000000-0000-4000-8000-000000000001'}}")
        .append("min", new BsonDocument(field, min))
        .append("max", new BsonDocument(field, max))
        .append("shard", new BsonString(shard))
        .append("lastmod", new BsonTimestamp(major, minor));
  }
}
