package dev.onehop.shards.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.core.table.InconsistentRoutingTableException;
import dev.onehop.core.table.RoutingTable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class RoutingCatalogTest {
  private static final String COLLECTION =
      "{_id: 'd.c', lastmodEpoch: {$oid: '000000000000000000000001'}, timestamp: {$timestamp: {t: 1,"
          + " i: 1}}, uuid: {$binary: {base64: 'AAAAAAAAAAAAAAAAAAAAAA==', subType: '04'}}, key:"
          + " {_id: 1}, unique: false}";
  private static final String DATABASE =
      "{_id: 'd', primary: 's1', partitioned: false, version: {uuid: {$binary: {base64:"
          + " 'AAAAAAAAAAAAAAAAAAAAAA==', subType: '04'}}, timestamp: {$timestamp: {t: 3, i: 1}},"
          + " lastMod: 1}}";
  private static final String UUID_0 = "{$uuid: '00000000-0000-4000-8000-000000000010'}";
  private static final String UUID_1 = "{$uuid: '00000000-0000-4000-8000-000000000011'}";

  private final FakeConfig config = new FakeConfig();
  private final List<String> refreshes = new ArrayList<>();
  private final RoutingCatalog catalog =
      new RoutingCatalog(
          config,
          (namespace, table, took, failure) ->
              refreshes.add(namespace + (failure == null ? " ok" : " failed")));

  @BeforeEach
  void twoChunks() {
    config.put("collections", COLLECTION);
    config.put(
        "chunks", chunk("{$minKey: 1}", "10", "s0", 1, 0), chunk("10", "{$maxKey: 1}", "s1", 1, 1));
  }

  @Test
  void loadsTableOnce() {
    assertThat(catalog.cached("d.c")).isNull();

    RoutingTable table = catalog.table("d.c").block();

    assertThat(table.shards()).containsExactly("s0", "s1");
    assertThat(catalog.table("d.c").block()).isSameAs(table);
    assertThat(catalog.cached("d.c")).isSameAs(table);
    assertThat(refreshes).containsExactly("d.c ok");
  }

  @Test
  void refreshReadsOnlyNewerChunks() {
    RoutingTable before = catalog.table("d.c").block();
    config.put(
        "chunks", chunk("{$minKey: 1}", "10", "s1", 2, 0), chunk("10", "{$maxKey: 1}", "s1", 1, 1));

    RoutingTable after = catalog.refresh("d.c", before).block();

    assertThat(after.shards()).containsExactly("s1");
    assertThat(config.chunkFilters.get(0).containsKey("lastmod")).isFalse();
    assertThat(config.chunkFilters.get(1).containsKey("lastmod")).isTrue();
  }

  @Test
  void callerWithOlderTableGetsCurrentTable() {
    RoutingTable first = catalog.table("d.c").block();
    config.put("chunks", chunk("{$minKey: 1}", "{$maxKey: 1}", "s1", 2, 0));
    RoutingTable second = catalog.refresh("d.c", first).block();
    int reads = config.collectionReads.get();

    assertThat(catalog.refresh("d.c", first).block()).isSameAs(second);
    assertThat(config.collectionReads).hasValue(reads);
  }

  @Test
  void concurrentRefreshesShareOneRead() {
    Sinks.Empty<Void> gate = config.hold();
    List<RoutingTable> answers = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      catalog.table("d.c").subscribe(answers::add);
    }

    gate.tryEmitEmpty();

    assertThat(answers).hasSize(10).containsOnly(answers.get(0));
    assertThat(config.collectionReads).hasValue(1);
  }

  @Test
  void recreatedCollectionIsReadInFull() {
    RoutingTable before = catalog.table("d.c").block();
    config.put("collections", COLLECTION.replace("{t: 1,", "{t: 9,"));

    RoutingTable after = catalog.refresh("d.c", before).block();

    assertThat(after).isNotSameAs(before);
    assertThat(config.chunkFilters.get(1).containsKey("lastmod")).isFalse();
  }

  @Test
  void rejectsGapAndKeepsOldTable() {
    RoutingTable before = catalog.table("d.c").block();
    config.put("chunks", chunk("{$minKey: 1}", "10", "s0", 3, 0));
    config.put("collections", COLLECTION.replace("{t: 1,", "{t: 9,"));

    assertThatThrownBy(() -> catalog.refresh("d.c", before).block())
        .isInstanceOf(InconsistentRoutingTableException.class);
    assertThat(catalog.cached("d.c")).isSameAs(before);
    assertThat(refreshes).endsWith("d.c failed");
  }

  @Test
  void unshardedCollectionHasPrimaryShard() {
    config.put("collections");
    config.put("databases", DATABASE);

    RoutingTable table = catalog.table("d.c").block();

    assertThat(table.isSharded()).isFalse();
    assertThat(table.primaryShard()).isEqualTo("s1");
  }

  @Test
  void removesTablesOfDroppedDatabase() {
    assertThat(catalog.table("d.c").block()).isNotNull();
    config.put("collections");
    config.put("databases");

    assertThatThrownBy(() -> catalog.reloadIfDue("d.c").block())
        .isInstanceOf(UnknownNamespaceException.class);
    assertThat(catalog.cached("d.c")).isNull();
    assertThat(catalog.age("d.c")).isEmpty();
  }

  @Test
  void delaysReloadAfterFailure() {
    assertThat(catalog.table("d.c").block()).isNotNull();
    config.put("collections");
    config.put("databases");
    assertThatThrownBy(() -> catalog.reloadIfDue("d.c").block())
        .isInstanceOf(UnknownNamespaceException.class);
    int reads = config.collectionReads.get();

    assertThat(catalog.reloadIfDue("d.c").blockOptional()).isEmpty();
    assertThat(config.collectionReads).hasValue(reads);
  }

  @Test
  void limitsReloadsOnSuspicion() {
    assertThat(catalog.table("d.c").block()).isNotNull();
    int reads = config.collectionReads.get();

    for (int i = 0; i < 1_000; i++) {
      catalog.suspect("d.c");
    }

    assertThat(config.collectionReads.get() - reads).isEqualTo(1);
  }

  @Test
  void suspicionFindsTheMovedRange() {
    assertThat(catalog.table("d.c").block()).isNotNull();
    config.put("chunks", chunk("{$minKey: 1}", "{$maxKey: 1}", "s1", 2, 0));

    catalog.suspect("d.c");

    assertThat(catalog.cached("d.c").shards()).containsExactly("s1");
  }

  @Test
  void removesUnusedTables() {
    assertThat(catalog.table("d.c").block()).isNotNull();

    catalog.forgetUnused();
    assertThat(catalog.cached("d.c")).isNotNull();
    catalog.forgetUnused();
    assertThat(catalog.cached("d.c")).isNotNull();
    catalog.forgetUnused();
    catalog.forgetUnused();
    assertThat(catalog.namespaces()).isEmpty();
  }

  @Test
  void limitsNumberOfTables() {
    config.put(
        "databases",
        "{_id: 'd', primary: 's1', version: {uuid: {$uuid: '00000000-0000-4000-8000-000000000002'},"
            + " timestamp: {$timestamp: {t: 1, i: 1}}, lastMod: 1}}");
    for (int i = 0; i < 10_500; i++) {
      assertThat(catalog.table("d.plain" + i).block()).isNotNull();
    }

    assertThat(catalog.namespaces()).hasSizeBetween(1, 10_000);
    assertThat(catalog.cached("d.plain10499")).isNotNull();
  }

  @Test
  void errorNamesUnknownDatabase() {
    assertThatThrownBy(() -> catalog.table("x.y").block())
        .isInstanceOf(UnknownNamespaceException.class)
        .hasMessageContaining("'x'");
  }

  @Test
  void resolvesShardsByNameAndUuidDuringUpgrade() {
    RoutingTable before = catalog.table("d.c").block();
    config.put("shards", "{_id: 's0', uuid: " + UUID_0 + "}", "{_id: 's1', uuid: " + UUID_1 + "}");
    config.put(
        "chunks",
        chunk("{$minKey: 1}", "10", "s0", 2, 0).replace("'s0'", UUID_1),
        chunk("10", "{$maxKey: 1}", "s1", 2, 1));

    RoutingTable after = catalog.refresh("d.c", before).block();

    assertThat(after.shards()).containsExactly("s1");
    assertThat(after.shardVersion("s1")).hasToString("2|1");
  }

  @Test
  void uuidOfPrimaryShardIsNoChange() {
    config.put("collections");
    config.put("databases", DATABASE);
    config.put("shards", "{_id: 's0', uuid: " + UUID_0 + "}", "{_id: 's1', uuid: " + UUID_1 + "}");
    catalog.table("d.c").block();
    config.put("databases", DATABASE.replace("'s1'", UUID_1));

    RoutingTable byUuid = catalog.refresh("d.c", catalog.cached("d.c")).block();

    assertThat(byUuid.primaryShard()).isEqualTo("s1");
    refreshes.clear();
    catalog.reloadChanged(catalog.namespaces()).block();
    assertThat(refreshes).isEmpty();
  }

  @Test
  void rejectsUnknownShardUuid() {
    config.put("chunks", chunk("{$minKey: 1}", "{$maxKey: 1}", "s0", 2, 0).replace("'s0'", UUID_0));

    assertThatThrownBy(() -> catalog.table("d.c").block())
        .isInstanceOf(InconsistentRoutingTableException.class)
        .hasMessageContaining("no shard in config.shards has the UUID 00000000-");
  }

  private static String chunk(String min, String max, String shard, int major, int minor) {
    return "{uuid: {$binary: {base64: 'AAAAAAAAAAAAAAAAAAAAAA==', subType: '04'}}, min: {_id: "
        + min
        + "}, max: {_id: "
        + max
        + "}, shard: '"
        + shard
        + "', lastmod: {$timestamp: {t: "
        + major
        + ", i: "
        + minor
        + "}}}";
  }

  /** Finds views. No result is used again, so each use of a name causes a new check. */
  private static final class ShortLivedViews implements Views {
    private volatile Mono<Boolean> view = Mono.just(false);
    private final AtomicInteger checks = new AtomicInteger();

    @Override
    public Mono<Boolean> isView(String namespace, String primaryShard) {
      assertThat(primaryShard).isEqualTo("s1");
      checks.incrementAndGet();
      return view;
    }

    @Override
    public Duration validFor() {
      return Duration.ZERO;
    }
  }

  private RoutingCatalog unsharded(Views views) {
    config.put("collections");
    config.put("databases", DATABASE);
    return RoutingCatalog.forShards(config, views, RoutingCatalog.RefreshListener.NONE);
  }

  @Test
  void detectsCollectionThatBecomesView() {
    ShortLivedViews views = new ShortLivedViews();
    RoutingCatalog ofShards = unsharded(views);
    assertThat(ofShards.table("d.v").block().primaryShard()).isEqualTo("s1");

    views.view = Mono.just(true);

    assertThat(ofShards.cached("d.v")).isNull();
    assertThatThrownBy(() -> ofShards.table("d.v").block()).isInstanceOf(ViewException.class);
    assertThatThrownBy(() -> ofShards.soon("d.v").block()).isInstanceOf(ViewException.class);

    views.view = Mono.just(false);

    assertThat(ofShards.table("d.v").block().primaryShard()).isEqualTo("s1");
  }

  @Test
  void optionalTableDoesNotWaitForViewCheck() {
    ShortLivedViews views = new ShortLivedViews();
    RoutingCatalog ofShards = unsharded(views);
    views.view = Mono.just(true);
    assertThatThrownBy(() -> ofShards.table("d.v").block()).isInstanceOf(ViewException.class);

    views.view = Mono.never();

    assertThat(ofShards.soon("d.v").block(RoutingCatalog.MOMENT.multipliedBy(5))).isNull();
  }

  @Test
  void checksViewOnceWhileResultIsValid() {
    AtomicInteger checks = new AtomicInteger();
    RoutingCatalog ofShards =
        unsharded((namespace, shard) -> Mono.fromCallable(() -> checks.incrementAndGet() > 0));

    assertThatThrownBy(() -> ofShards.table("d.v").block()).isInstanceOf(ViewException.class);
    assertThatThrownBy(() -> ofShards.table("d.v").block()).isInstanceOf(ViewException.class);

    assertThat(checks).hasValue(1);
  }

  @Test
  void failedViewCheckKeepsLastResult() {
    ShortLivedViews views = new ShortLivedViews();
    RoutingCatalog ofShards = unsharded(views);
    RoutingTable table = ofShards.table("d.v").block();

    views.view = Mono.error(new IOException("silent"));

    assertThat(ofShards.table("d.v").block()).isSameAs(table);
    assertThat(ofShards.cached("d.v")).isSameAs(table);
  }

  @Test
  void doesNotCheckShardedCollectionForView() {
    ShortLivedViews views = new ShortLivedViews();
    RoutingCatalog ofShards =
        RoutingCatalog.forShards(config, views, RoutingCatalog.RefreshListener.NONE);

    assertThat(ofShards.table("d.c").block().isSharded()).isTrue();
    assertThat(ofShards.cached("d.c")).isNotNull();
    assertThat(views.checks).hasValue(0);
  }
}
