package dev.onehop.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyPhase;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Resumes a job that an earlier version of the program has stored. The process of the job was
 * killed in the full phase: it had copied all documents below 10, and some documents below 20. The
 * stored state is a file of this test. Later versions must be able to continue it without a change.
 */
class ResumedCopyTest {
  /** The session id of the job's first lane. */
  private static final String FIRST = "JuClYTS7NiiqMw0+/Y5v+w==";

  private static final String SECOND = "t37LqqplMkGW0I8Y4goiHQ==";

  private ScriptedReplicaSet source;
  private ScriptedReplicaSet destination;

  @BeforeEach
  void store() throws IOException {
    source = new ScriptedReplicaSet();
    destination = new ScriptedReplicaSet();
    source.script(
        command ->
            command.getFirstKey().equals("listDatabases")
                ? BsonDocument.parse("{ok: 1, databases: [{name: 'd'}]}")
                : null);
    destination.script(
        command ->
            command.getFirstKey().equals("listIndexes")
                ? ScriptedReplicaSet.cursor("{v: 2, key: {a: 1}, name: 'a_1'}")
                : null);
    destination.now(60_000);
    String name = source.url().replaceFirst("mongodb://([^/]*)/.*", "rs/$1");
    String stored;
    try (InputStream file = ResumedCopyTest.class.getResourceAsStream("job-format-1.jsonl")) {
      stored = new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8);
    }
    for (String line : stored.replace("SOURCE", name).lines().toList()) {
      BsonDocument each = BsonDocument.parse(line);
      destination.store(each.getString("in").getValue(), each.getDocument("document"));
    }
    for (int id : List.of(1, 2, 10, 11, 12, 20, 21)) {
      source.store("d.c", "{_id: %d, a: 'source'}".formatted(id));
    }
    for (int id : List.of(1, 2, 10)) {
      destination.store("e.c", "{_id: %d, a: 'copied'}".formatted(id));
    }
  }

  @AfterEach
  void close() {
    source.close();
    destination.close();
  }

  private ClusterCopy.Builder copy() {
    return ClusterCopy.builder(source.url(), destination.url())
        .job("j")
        .begin(ClusterCopy.Begin.RESUME)
        .include(List.of("d.*"))
        .rename("d", "e");
  }

  private BsonDocument job() {
    return destination.stored("onehop_copy.jobs").get(0);
  }

  @Test
  void copiesOnlyUnfinishedRanges() throws InterruptedException {
    try (ClusterCopy copy = copy().build()) {
      copy.run();
      assertThat(copy.progress().phase()).isEqualTo(CopyPhase.DONE);
      assertThat(copy.progress().documentsDone()).isEqualTo(7);
      assertThat(copy.progress().rangesReadAgain()).isEqualTo(1);
    }

    assertThat(source.seen("find").stream().filter(find -> find.containsKey("hint")))
        .extracting(find -> find.containsKey("min") ? find.get("min") : find.get("filter"))
        .containsExactlyInAnyOrder(
            BsonDocument.parse("{_id: 10}"),
            BsonDocument.parse("{_id: 20}"),
            BsonDocument.parse("{$and: [{_id: {$eq: {$maxKey: 1}}}]}"));
    assertThat(destination.stored("e.c"))
        .extracting(document -> document.getInt32("_id").getValue())
        .containsExactlyInAnyOrder(1, 2, 10, 11, 12, 20, 21);
    assertThat(
            destination.stored("e.c").stream().map(document -> document.getString("a").getValue()))
        .containsOnly("source", "copied")
        .filteredOn("copied"::equals)
        .hasSize(3);
    assertThat(destination.stored("onehop_copy.ranges"))
        .allSatisfy(range -> assertThat(range.getBoolean("done").getValue()).isTrue());
    assertThat(job().getString("phase").getValue()).isEqualTo("DONE");
    assertThat(job().get("owner")).isEqualTo(BsonNull.VALUE);
    assertThat(job().get("term")).isEqualTo(new BsonInt64(4));
    assertThat(destination.seen("create")).isEmpty();
    assertThat(destination.seen("createIndexes"))
        .flatExtracting(command -> command.getArray("indexes").getValues())
        .extracting(index -> index.asDocument().getString("name").getValue())
        .containsExactly("a_1", "u_1");
  }

  /**
   * The earlier process may be paused and not ended. Without the fence, it could then still write.
   */
  @Test
  void fencesSessionsOfEarlierProcess() throws InterruptedException {
    try (ClusterCopy copy = copy().build()) {
      copy.run();
    }
    List<BsonDocument> fences = fences();
    assertThat(fenced()).contains(FIRST, SECOND);
    assertThat(fences)
        .allSatisfy(
            fence -> assertThat(fence.getInt64("txnNumber").getValue()).isGreaterThan(4L << 40));
    assertThat(destination.seen("insert"))
        .allSatisfy(
            insert ->
                assertThat(insert.getDocument("lsid").get("id"))
                    .isIn(
                        fences.stream()
                            .map(fence -> fence.getDocument("lsid").get("id"))
                            .toList()));
  }

  private List<BsonDocument> fences() {
    return destination.seen("update").stream()
        .filter(update -> update.getString("update").getValue().equals("fences"))
        .toList();
  }

  /** The ids of the sessions that were fenced. */
  private List<String> fenced() {
    return fences().stream()
        .map(fence -> fence.getDocument("lsid").getBinary("id").getData())
        .map(Base64.getEncoder()::encodeToString)
        .toList();
  }

  @Test
  void rejectsJobOfAnotherFormat() {
    BsonDocument other = job().append("format", new BsonInt32(99));
    try (ScriptedReplicaSet with = new ScriptedReplicaSet()) {
      with.store("onehop_copy.jobs", other);
      try (ClusterCopy copy =
          ClusterCopy.builder(source.url(), with.url())
              .job("j")
              .begin(ClusterCopy.Begin.RESUME)
              .build()) {
        assertThatThrownBy(copy::run)
            .isInstanceOf(CopyException.class)
            .hasMessageContaining("another version of this program");
      }
    }
  }

  @Test
  void rejectsOtherCollections() {
    try (ClusterCopy copy = copy().exclude(List.of("d.c")).build()) {
      assertThatThrownBy(copy::run)
          .isInstanceOf(CopyException.class)
          .hasMessageContaining("was begun with other collections");
    }
    assertThat(job().get("term")).isEqualTo(new BsonInt64(3));
  }

  /** Late time series have a plan of their own. An overwritten job may have ended before them. */
  @Test
  void removesBothPlansOfAnOverwrittenJob() throws InterruptedException {
    BsonObjectId series = new BsonObjectId(new ObjectId());
    BsonDocument old = job().append("series", series);
    destination.clear("onehop_copy.jobs");
    destination.store("onehop_copy.jobs", old);
    BsonDocument late = destination.stored("onehop_copy.collections").get(1);
    late.getDocument("_id").put("plan", series);
    destination.store("onehop_copy.collections", late);
    destination.script(ResumedCopyTest::empty);
    overwrite();
    assertThat(job().get("series")).isEqualTo(BsonNull.VALUE);
    assertThat(destination.stored("onehop_copy.collections")).isEmpty();
  }

  private static @Nullable BsonDocument empty(BsonDocument command) {
    return command.getFirstKey().equals("listDatabases")
        ? BsonDocument.parse("{ok: 1, databases: []}")
        : null;
  }

  private void overwrite() throws InterruptedException {
    source.clusterTime(new BsonTimestamp(1_700_000_000, 1));
    try (ClusterCopy copy =
        ClusterCopy.builder(source.url(), destination.url())
            .job("j")
            .begin(ClusterCopy.Begin.OVERWRITE)
            .build()) {
      copy.run();
    }
  }

  /** The process of the first overwriting job ends before it has fenced the original job. */
  @Test
  void fencesAllOverwrittenJobs() throws InterruptedException {
    destination.script(
        command ->
            new BsonString("fences").equals(command.get("update"))
                ? BsonDocument.parse("{ok: 0, code: 13, errmsg: 'not allowed'}")
                : empty(command));
    assertThatThrownBy(this::overwrite).isInstanceOf(CopyException.class);
    int before = fenced().size();
    destination.script(ResumedCopyTest::empty);
    destination.now(120_000);

    overwrite();
    assertThat(fenced().subList(before, fenced().size())).contains(FIRST, SECOND);
  }
}
