package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads over several shards: the commands to the shards, and the merge of their replies. */
class ShardedReadsTest {
  private static final int WIRE_6_0 = 17;
  private static final int ON_EACH = 1_000;
  private static final int DOCUMENT_BYTES = 1_000;

  private final ScriptedCluster cluster =
      new ScriptedCluster(WIRE_6_0).routedBy(cluster -> new MongosRouter(cluster, false));
  private final Shard s0 = new Shard(0);
  private final Shard s1 = new Shard(1);

  @AfterEach
  void close() {
    cluster.close();
  }

  /**
   * A shard with every second number, in documents of about a kilobyte. Its cursors are like those
   * of a server.
   */
  private static final class Shard implements ScriptedCluster.Script {
    private final int first;
    private final Map<Long, Integer> positions = new HashMap<>();
    private final AtomicInteger sent = new AtomicInteger();
    private long lastCursor;

    Shard(int first) {
      this.first = first;
    }

    @Override
    public synchronized @Nullable BsonDocument apply(BsonDocument command) {
      return switch (command.getFirstKey()) {
        case "find" -> batch("firstBatch", ++lastCursor, 0, command, 101);
        case "getMore" -> {
          long id = command.getInt64("getMore").getValue();
          Integer position = positions.remove(id);
          yield position == null
              ? BsonDocument.parse("{ok: 0, code: 43, codeName: 'CursorNotFound', errmsg: 'no'}")
              : batch("nextBatch", id, position, command, ON_EACH);
        }
        case "count" -> BsonDocument.parse("{ok: 1, n: 3}");
        default -> null;
      };
    }

    private BsonDocument batch(
        String name, long id, int position, BsonDocument command, int byDefault) {
      int size = command.getNumber("batchSize", new BsonInt32(byDefault)).intValue();
      int end = Math.min(ON_EACH, position + size);
      BsonArray batch = new BsonArray();
      for (int i = position; i < end; i++) {
        int n = 2 * i + first;
        batch.add(
            new BsonDocument("n", new BsonInt32(n))
                .append("filling", new BsonBinary(new byte[DOCUMENT_BYTES]))
                .append("$sortKey", new BsonArray(List.of(new BsonInt32(n)))));
      }
      sent.addAndGet(end - position);
      boolean last = end == ON_EACH && end - position < size;
      if (!last) {
        positions.put(id, end);
      }
      return new BsonDocument(
              "cursor",
              new BsonDocument(name, batch)
                  .append("id", new BsonInt64(last ? 0 : id))
                  .append("ns", new BsonString("it.c")))
          .append("ok", new BsonInt32(1));
    }
  }

  /** From each shard, the router fetches at most one batch more than it returns. */
  @ParameterizedTest
  @CsvSource({"'', 0", "'sort: {n: 1},', 0", "'sort: {n: 1}, skip: 300,', 300"})
  void shardBatchesHaveBatchSizeOfClient(String options, int skipped) {
    cluster.script("s0", s0);
    cluster.script("s1", s1);
    int batchSize = 10;
    List<Integer> read = new ArrayList<>();

    BsonDocument reply =
        cluster.execute("{find: 'c', %s batchSize: %d, $db: 'it'}".formatted(options, batchSize));
    for (int i = 0; i < 40; i++) {
      read.addAll(numbers(reply));
      reply = more(reply, "batchSize: " + batchSize);
    }
    read.addAll(numbers(reply));

    assertThat(read).hasSize(41 * batchSize).doesNotHaveDuplicates();
    if (!options.isEmpty()) {
      assertThat(read).isSorted().startsWith(skipped);
    }
    int most = skipped == 0 ? batchSize : skipped + batchSize;
    assertThat(s0.sent.get() + s1.sent.get()).isLessThanOrEqualTo(skipped + read.size() + 2 * most);
    assertThat(cluster.seen("s0", "getMore"))
        .allSatisfy(sent -> assertThat(sent.getInt32("batchSize").getValue()).isBetween(1, most));
  }

  /**
   * At the limit, the router has read at most one batch too many from each shard. It closes the
   * cursors.
   */
  @Test
  void stopsFetchingAtLimit() {
    cluster.script("s0", s0);
    cluster.script("s1", s1);

    BsonDocument reply =
        cluster.execute("{find: 'c', sort: {n: 1}, batchSize: 20, limit: 45, $db: 'it'}");
    reply = more(reply, "batchSize: 20");
    reply = more(reply, "batchSize: 20");

    assertThat(numbers(reply)).containsExactly(40, 41, 42, 43, 44);
    assertThat(id(reply)).isZero();
    assertThat(s0.sent.get() + s1.sent.get()).isLessThanOrEqualTo(45 + 2 * 20);
    assertThat(cluster.seen("s0", "killCursors")).hasSize(1);
    assertThat(cluster.seen("s1", "killCursors")).hasSize(1);
  }

  /**
   * For a server, batch size 0 in a getMore means no limit. The router must not return an empty
   * batch.
   */
  @ParameterizedTest
  @ValueSource(strings = {"", "batchSize: 0", "batchSize: null"})
  void getMoreWithoutBatchSizeIsUnlimited(String batchSize) {
    cluster.script("s0", s0);
    cluster.script("s1", s1);

    BsonDocument reply = cluster.execute("{find: 'c', batchSize: 0, $db: 'it'}");
    assertThat(numbers(reply)).isEmpty();

    reply = more(reply, batchSize);
    assertThat(numbers(reply).size()).isGreaterThanOrEqualTo(ON_EACH);
    assertThat(cluster.seen("s0", "getMore"))
        .allSatisfy(sent -> assertThat(sent).doesNotContainKey("batchSize"));
  }

  /** All commands to a shard for a client's read carry the client's Stable API options. */
  @Test
  void sendsStableApiOptionsWithAllCommands() {
    cluster.script("s0", s0);
    cluster.script("s1", s1);
    String api = "apiVersion: '1', apiStrict: true, apiDeprecationErrors: true, lsid: {id: 'a'}";

    BsonDocument reply =
        cluster.execute("{find: 'c', batchSize: 5, sort: {n: 1}, %s, $db: 'it'}".formatted(api));
    for (int i = 0; i < 3; i++) {
      reply = more(reply, "batchSize: 5, " + api);
    }
    cluster.execute(
        "{killCursors: 'c', cursors: [{$numberLong: '%d'}], %s, $db: 'it'}"
            .formatted(id(reply), api));
    cluster.execute("{count: 'c', query: {n: 1}, skip: 1, %s, $db: 'it'}".formatted(api));

    BsonDocument apiOptions = BsonDocument.parse("{" + api + "}");
    for (String shard : List.of("s0", "s1")) {
      for (String command : List.of("find", "getMore", "killCursors", "count")) {
        assertThat(cluster.seen(shard, command))
            .as(command)
            .isNotEmpty()
            .allSatisfy(sent -> assertThat(sent).containsAllEntriesOf(apiOptions));
      }
    }
  }

  /**
   * The router does not send the client's batch size to the shards. With 1, a shard would leave a
   * cursor open; with 0, its batch would have no count.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void countIgnoresBatchSize(int batchSize) {
    for (String shard : List.of("s0", "s1")) {
      cluster.script(shard, ShardedReadsTest::counted);
    }

    BsonDocument reply =
        cluster.execute(
            """
            {aggregate: 'c', pipeline: [{$match: {n: 1}}, {$group: {_id: 1, n: {$sum: 1}}}],
             cursor: {batchSize: %d}, $db: 'it'}\
            """
                .formatted(batchSize));

    if (batchSize == 0) {
      assertThat(documents(reply)).isEmpty();
      assertThat(id(reply)).isNotZero();
      reply = more(reply, "");
    }
    assertThat(documents(reply))
        .singleElement()
        .isEqualTo(new BsonDocument("_id", new BsonInt32(1)).append("n", new BsonInt64(6)));
    assertThat(id(reply)).isZero();
    for (String shard : List.of("s0", "s1")) {
      int opened =
          cluster.seen(shard, "aggregate").stream().mapToInt(ShardedReadsTest::openCursors).sum();
      assertThat(cluster.seen(shard, "killCursors")).hasSize(opened);
    }
  }

  /** A shard's reply. Like a server, the shard leaves a cursor open after a full batch. */
  private static @Nullable BsonDocument counted(BsonDocument command) {
    if (!command.getFirstKey().equals("aggregate")) {
      return null;
    }
    return BsonDocument.parse(
        "{ok: 1, cursor: {firstBatch: [%s], id: {$numberLong: '%d'}, ns: 'it.c'}}"
            .formatted(size(command) == 0 ? "" : "{_id: 1, n: 3}", openCursors(command) * 7));
  }

  private static int size(BsonDocument aggregate) {
    return aggregate.getDocument("cursor").getNumber("batchSize", new BsonInt32(101)).intValue();
  }

  /** 1 if the shard leaves its cursor open, otherwise 0. */
  private static int openCursors(BsonDocument aggregate) {
    return size(aggregate) < 2 ? 1 : 0;
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "sort: {n: 1},", "filter: {_id: 5},"})
  void partialResultsOmitUnreachableShard(String options) {
    cluster.script("s0", s0);
    cluster.execute("{ping: 1, $db: 'it'}");
    cluster.stop("s1");

    BsonDocument reply =
        cluster.execute(
            "{find: 'c', %s allowPartialResults: true, batchSize: 900, $db: 'it'}"
                .formatted(options));

    assertThat(reply.getNumber("ok").intValue()).as("%s", reply).isEqualTo(1);
    assertThat(reply.getDocument("cursor"))
        .containsEntry("partialResultsReturned", BsonBoolean.TRUE);
    if (options.startsWith("filter")) {
      assertThat(numbers(reply)).isEmpty();
      assertThat(id(reply)).isZero();
      return;
    }
    assertThat(numbers(reply)).hasSize(900).allMatch(n -> n % 2 == 0);
    reply = more(reply, "");
    assertThat(numbers(reply)).hasSize(100);
    assertThat(reply.getDocument("cursor"))
        .containsEntry("partialResultsReturned", BsonBoolean.TRUE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "sort: {n: 1},", "filter: {_id: 5},"})
  void partialResultsOmitShardThatStops(String options) {
    cluster.script("s0", s0);
    cluster.script("s1", s1);
    BsonDocument reply =
        cluster.execute(
            "{find: 'c', %s allowPartialResults: true, batchSize: 100, $db: 'it'}"
                .formatted(options));
    assertThat(reply.getDocument("cursor")).doesNotContainKey("partialResultsReturned");
    int read = numbers(reply).size();

    cluster.stop("s1");
    do {
      reply = more(reply, "batchSize: 300");
      assertThat(reply.getNumber("ok").intValue()).as("%s", reply).isEqualTo(1);
      read += numbers(reply).size();
    } while (id(reply) != 0);

    assertThat(reply.getDocument("cursor"))
        .containsEntry("partialResultsReturned", BsonBoolean.TRUE);
    assertThat(read).isGreaterThanOrEqualTo(options.startsWith("filter") ? 100 : ON_EACH);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'c', $db: 'it'}",
        "{count: 'c', query: {}, $db: 'it'}",
        "{distinct: 'c', key: 'x', query: {}, $db: 'it'}"
      })
  void returnsUnknownErrorWithoutRetry(String command) {
    String name = BsonDocument.parse(command).getFirstKey();
    cluster.script(
        "s1",
        got ->
            got.getFirstKey().equals(name)
                ? BsonDocument.parse("{ok: 0, code: 987654, errmsg: 'never heard of'}")
                : null);

    BsonDocument reply = cluster.execute(command);

    assertThat(reply).containsEntry("code", new BsonInt32(987654));
    assertThat(reply.getNumber("ok").intValue()).isZero();
    assertThat(reply).doesNotContainKeys("cursor", "values", "value");
    assertThat(cluster.seen("s1", name)).hasSize(1);
  }

  /** The metadata may name the primary shard of a database by the shard's UUID. */
  @Test
  void primaryShardListsCollections() {
    cluster.withShardUuids();
    cluster.script(
        "s0",
        got ->
            got.getFirstKey().equals("listCollections")
                ? ScriptedCluster.cursor(new BsonArray())
                : null);

    assertThat(cluster.execute("{listCollections: 1, $db: 'it'}")).containsKey("cursor");
    assertThat(cluster.seen("s0", "listCollections")).hasSize(1);
  }

  /**
   * {@code allowPartialResults} ignores a shard that is down, but not one that refuses the read.
   */
  @Test
  void refusedReadFailsDespitePartialResults() {
    cluster.script("s0", s0);
    cluster.script(
        "s1",
        got ->
            got.getFirstKey().equals("find")
                ? BsonDocument.parse("{ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'no'}")
                : null);

    assertThat(cluster.execute("{find: 'c', allowPartialResults: true, $db: 'it'}"))
        .containsEntry("code", new BsonInt32(13));
  }

  @Test
  void killsSessionsOnAllServers() {
    BsonDocument opened =
        cluster.execute("{find: 'c', filter: {_id: 5}, lsid: {id: 'a'}, $db: 'it'}");
    assertThat(opened).containsKey("cursor");

    for (String command :
        List.of(
            "killSessions: [{id: 'a'}]", "killAllSessions: []", "killAllSessionsByPattern: []")) {
      assertThat(cluster.execute("{" + command + ", $db: 'admin'}").getNumber("ok"))
          .isEqualTo(new BsonDouble(1));
    }
    for (String server : List.of("s0", "s1", "config")) {
      assertThat(cluster.seen(server, "killSessions")).hasSize(1);
      assertThat(cluster.seen(server, "killAllSessions")).hasSize(1);
      assertThat(cluster.seen(server, "killAllSessionsByPattern")).hasSize(1);
    }
  }

  @Test
  void endedSessionClosesItsCursors() {
    cluster.script("s0", s0);
    cluster.script("s1", s1);
    BsonDocument ended = cluster.execute("{find: 'c', batchSize: 5, lsid: {id: 'a'}, $db: 'it'}");
    BsonDocument other = cluster.execute("{find: 'c', batchSize: 5, lsid: {id: 'b'}, $db: 'it'}");

    cluster.execute("{endSessions: [{id: 'a'}], $db: 'admin'}");

    assertThat(more(ended, "")).containsEntry("code", new BsonInt32(43));
    assertThat(numbers(more(other, ""))).isNotEmpty();
  }

  private BsonDocument more(BsonDocument reply, String options) {
    return cluster.execute(
        "{getMore: {$numberLong: '%d'}, collection: 'c', %s $db: 'it'}"
            .formatted(id(reply), options.isEmpty() ? "" : options + ","));
  }

  private static long id(BsonDocument reply) {
    return reply.getDocument("cursor").getInt64("id").getValue();
  }

  private static List<Integer> numbers(BsonDocument reply) {
    return documents(reply).stream().map(each -> each.getInt32("n").getValue()).toList();
  }

  private static List<BsonDocument> documents(BsonDocument reply) {
    BsonDocument cursor = reply.getDocument("cursor");
    return cursor.getArray(cursor.containsKey("firstBatch") ? "firstBatch" : "nextBatch").stream()
        .map(BsonValue::asDocument)
        .toList();
  }
}
