package dev.onehop.shards.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.hamcrest.Matchers.greaterThanOrEqualTo;

import dev.onehop.core.table.RoutingTable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;

/** The reads for more than a thousand loaded tables, in the formats of 4.4 and of 5.0. */
class ChangedTablesTest {
  private static final int SHARDED = 1_200;
  private static final ObjectId EPOCH = new ObjectId("65a000000000000000000001");

  private final FakeConfig config = new FakeConfig();
  private final List<String> refreshed = new ArrayList<>();
  private final RoutingCatalog catalog =
      new RoutingCatalog(config, (namespace, table, took, failure) -> refreshed.add(namespace));
  private boolean uuids;

  @BeforeEach
  void databases() {
    config.put(
        "databases",
        database("d", "s0", 1),
        database("moved", "s0", 1),
        database("dropped", "s0", 1));
  }

  private void load(boolean since50) {
    uuids = since50;
    List<BsonDocument> collections = new ArrayList<>();
    List<BsonDocument> chunks = new ArrayList<>();
    for (int i = 0; i < SHARDED; i++) {
      collections.add(collection(i, EPOCH, 1));
      chunks.add(chunk(i, new BsonMinKey(), new BsonInt32(0), "s0", 1, 0));
      chunks.add(chunk(i, new BsonInt32(0), new BsonMaxKey(), "s1", 1, 1));
    }
    config.collections.put("collections", collections);
    config.collections.put("chunks", chunks);
    Flux.concat(
            Flux.range(0, SHARDED).map(i -> "d.c" + i),
            Flux.just("d.plain", "moved.plain", "dropped.plain"))
        .concatMap(catalog::table)
        .blockLast();
    refreshed.clear();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void unchangedCollectionsNeedFewReads(boolean since50) {
    load(since50);
    int before = config.reads.get();
    Map<String, RoutingTable> tables = tables();

    catalog.reloadChanged(catalog.namespaces()).block();

    assertThat(config.reads.get() - before).isLessThanOrEqualTo(9);
    assertThat(refreshed).isEmpty();
    assertThat(tables()).isEqualTo(tables);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void reloadsOnlyChangedTables(boolean since50) {
    load(since50);
    config
        .collections
        .get("chunks")
        .set(0, chunk(0, new BsonMinKey(), new BsonInt32(0), "s1", 2, 0));
    config
        .collections
        .get("chunks")
        .set(2_399, chunk(1_199, new BsonInt32(0), new BsonMaxKey(), "s0", 2, 0));
    List<BsonDocument> collections = config.collections.get("collections");
    collections.set(1, collection(1, new ObjectId(), 7));
    collections.set(2, collection(2, EPOCH, 1).append("dropped", BsonBoolean.TRUE));
    collections.remove(3);
    config.put("databases", database("d", "s0", 1), database("moved", "s1", 2));
    int before = config.reads.get();

    catalog.reloadChanged(catalog.namespaces()).block();

    assertThat(Set.copyOf(refreshed))
        .isEqualTo(
            new TreeSet<>(
                Set.of("d.c0", "d.c1199", "d.c1", "d.c2", "d.c3", "moved.plain", "dropped.plain")));
    assertThat(config.reads.get() - before).isLessThan(60);
    assertThat(catalog.cached("d.c0").shards()).containsExactly("s1");
    assertThat(catalog.cached("d.c1199").shards()).containsExactly("s0");
    assertThat(catalog.cached("d.c2").isSharded()).isFalse();
    assertThat(catalog.cached("d.c3").isSharded()).isFalse();
    assertThat(catalog.cached("moved.plain").primaryShard()).isEqualTo("s1");
    assertThat(catalog.cached("dropped.plain")).isNull();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void findsNewlyShardedCollection(boolean since50) {
    load(since50);
    List<BsonDocument> collections = config.collections.get("collections");
    collections.add(collection(9_000, EPOCH, 1).append("_id", new BsonString("d.plain")));
    for (BsonDocument chunk :
        List.of(chunk(9_000, new BsonMinKey(), new BsonMaxKey(), "s1", 1, 0))) {
      config
          .collections
          .get("chunks")
          .add(uuids ? chunk : chunk.append("ns", new BsonString("d.plain")));
    }

    catalog.reloadChanged(catalog.namespaces()).block();

    assertThat(refreshed).containsExactly("d.plain");
    assertThat(catalog.cached("d.plain").isSharded()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void checkResetsAgeOfCurrentTable(boolean since50) {
    load(since50);
    await()
        .until(
            () -> catalog.age("d.c0").orElseThrow(), greaterThanOrEqualTo(Duration.ofMillis(20)));
    long begin = System.nanoTime();

    catalog.reloadChanged(catalog.namespaces()).block();
    Duration after = catalog.age("d.c0").orElseThrow();

    assertThat(after).isLessThanOrEqualTo(Duration.ofNanos(System.nanoTime() - begin));
    assertThat(catalog.age("d.plain")).isPresent();
  }

  private Map<String, RoutingTable> tables() {
    return catalog.tables().stream()
        .collect(Collectors.toMap(RoutingTable::namespace, table -> table));
  }

  private BsonDocument collection(int i, ObjectId epoch, int incarnation) {
    BsonDocument collection =
        BsonDocument.parse("{_id: 'd.c%d', key: {_id: 1}, unique: false}".formatted(i))
            .append("lastmodEpoch", new BsonObjectId(epoch))
            .append("uuid", uuid(i));
    return uuids
        ? collection.append("timestamp", new BsonTimestamp(incarnation, 1))
        : collection.append("dropped", BsonBoolean.FALSE);
  }

  private BsonDocument chunk(
      int i, BsonValue min, BsonValue max, String shard, int major, int minor) {
    BsonDocument chunk =
        new BsonDocument("min", new BsonDocument("_id", min))
            .append("max", new BsonDocument("_id", max))
            .append("shard", new BsonString(shard))
            .append("lastmod", new BsonTimestamp(major, minor));
    return uuids ? chunk.append("uuid", uuid(i)) : chunk.append("ns", new BsonString("d.c" + i));
  }

  private static BsonBinary uuid(int i) {
    return new BsonBinary(new UUID(1, i));
  }

  private static String database(String name, String primary, int lastMod) {
    return "{_id: '%s', primary: '%s', version: {uuid: {$uuid: '00000000-0000-4000-8000-000000000002'},"
            .formatted(name, primary)
        + " timestamp: {$timestamp: {t: 1, i: 1}}, lastMod: %d}}".formatted(lastMod);
  }
}
