package dev.onehop.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyPhase;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Copies that begin, and copies that are refused and write nothing. */
class NewCopyTest {
  private static final String DISK = "{ok: 1, fsTotalSize: 9000000, fsUsedSize: 0}";
  private static final String SIZE = "{count: 3600, size: 90000, stored: 20000}";

  @AutoClose private final ScriptedReplicaSet source = new ScriptedReplicaSet();
  @AutoClose private final ScriptedReplicaSet destination = new ScriptedReplicaSet();

  @BeforeEach
  void store() {
    source.clusterTime(new BsonTimestamp(1_700_000_000, 1));
    source.script(command -> has(command, "c", "o"));
    destination.script(NewCopyTest::has);
    source.store("d.c", "{_id: 1}", "{_id: 2}");
  }

  /** Replies as a server whose database {@code d} has these collections. */
  private static @Nullable BsonDocument has(BsonDocument command, String... names) {
    return switch (command.getFirstKey()) {
      case "listDatabases" -> BsonDocument.parse("{ok: 1, databases: [{name: 'd'}]}");
      case "listCollections" ->
          ScriptedReplicaSet.cursor(
              Arrays.stream(names)
                  .map("{name: '%s', type: 'collection'}"::formatted)
                  .toArray(String[]::new));
      case "aggregate" -> ScriptedReplicaSet.cursor(SIZE);
      case "dbStats" -> BsonDocument.parse(DISK);
      default -> null;
    };
  }

  private ClusterCopy.Builder copy() {
    return ClusterCopy.builder(source.url(), destination.url()).job("j");
  }

  private static void run(ClusterCopy.Builder builder) throws InterruptedException {
    try (ClusterCopy copy = builder.build()) {
      copy.run();
    }
  }

  private void assertRefused(ClusterCopy.Builder builder, String why) {
    assertThatThrownBy(() -> run(builder))
        .isInstanceOf(CopyException.class)
        .hasMessageContaining(why);
    for (String write : List.of("create", "drop", "insert", "update", "delete", "findAndModify")) {
      assertThat(destination.seen(write)).as(write).isEmpty();
    }
  }

  @Test
  void rejectsSameCluster() {
    assertRefused(ClusterCopy.builder(destination.url(), destination.url()), "the same cluster");
  }

  @Test
  void rejectsResumptionWithoutJob() {
    assertRefused(copy().begin(ClusterCopy.Begin.RESUME), "the destination has no job j");
  }

  @Test
  void rejectsSecondJobOfName() {
    destination.store("onehop_copy.jobs", "{_id: 'j', phase: 'DONE'}");
    assertRefused(copy(), "the destination has the job j already, in phase DONE");
  }

  @Test
  void rejectsOccupiedDestination() {
    destination.script(command -> has(command, "o", "other"));
    assertRefused(copy(), "the destination is not empty: it has d.o, d.other, to which this copy");
    assertRefused(copy().include(List.of("d.o")), "not empty: it has d.o, to which");
  }

  @Test
  void rejectsTwoCollectionsWithOneName() {
    assertRefused(copy().rename("d", "e").rename("d.c", "e.o"), "d.c and d.o both become e.o");
  }

  @Test
  void rejectsFilterThatSourceRefuses() {
    source.script(
        command ->
            command.toJson().contains("$bad")
                ? BsonDocument.parse("{ok: 0, code: 2, errmsg: 'unknown operator: $bad'}")
                : has(command, "c", "o"));
    assertRefused(
        copy().filter("d.c", BsonDocument.parse("{$bad: 1}")),
        "the source refuses the filter of d.c: ");
  }

  @Test
  void rejectsSelectionWithoutCollection() {
    assertRefused(copy().include(List.of("x")), "the selection includes no collection");
  }

  @Test
  void rejectsCopyLongerThanOplog() {
    source.script(
        command -> {
          if (!command.getString("$db").getValue().equals("local")) {
            return has(command, "c");
          }
          if (command.containsKey("pipeline")) {
            return ScriptedReplicaSet.cursor("{size: 100, max: 100}");
          }
          boolean oldest = command.getDocument("sort").getInt32("$natural").getValue() > 0;
          return ScriptedReplicaSet.cursor(
              "{ts: {$timestamp: {t: %d, i: 1}}}".formatted(oldest ? 1_000 : 4_600));
        });
    assertRefused(
        copy().phases(EnumSet.allOf(CopyPhase.class)).documentsPerSecond(0.01),
        "the copy will take about 100 h, but the oplog of the source keeps changes only for about"
            + " 60 min");
  }

  @Test
  void copiesEmptyClusterWithoutUsers() throws InterruptedException {
    source.script(
        command ->
            command.getFirstKey().equals("usersInfo")
                ? BsonDocument.parse("{ok: 1, users: [{user: 'some', db: 'admin'}]}")
                : has(command));
    try (ClusterCopy copy = copy().build()) {
      copy.run();
      assertThat(copy.progress().phase()).isEqualTo(CopyPhase.DONE);
      assertThat(copy.progress().collections()).isZero();
      assertThat(copy.progress().notes())
          .containsExactly("users and roles are not copied: create them at the destination");
    }
  }

  /** The other readers and writers of the copy must not wait for the failed one. */
  @Test
  @Timeout(value = 1, unit = TimeUnit.MINUTES)
  void failsIfDestinationRejectsDocument() {
    destination.script(
        command ->
            command.getFirstKey().equals("insert")
                    && command.getString("$db").getValue().equals("d")
                ? BsonDocument.parse(
                    "{ok: 1, n: 0, writeErrors: [{index: 0, code: 121, errmsg: 'is invalid'}]}")
                : has(command));
    assertThatThrownBy(() -> run(copy()))
        .isInstanceOf(CopyException.class)
        .hasMessage("d.c: is invalid");
    assertThat(destination.stored("onehop_copy.jobs"))
        .extracting(job -> job.getString("phase").getValue())
        .containsExactly("FULL");
  }
}
