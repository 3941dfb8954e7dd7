package dev.onehop.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.internal.full.Counts;
import dev.onehop.copy.progress.CopyPhase;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The progress that servers report during a copy. */
@SuppressWarnings("try") // A watch works by itself, so the variable is not used.
class RunWatchTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final String BUILD =
      "{msg: 'Index Build: %s: 1/4 25%%', progress: {done: 1, total: 4}}";

  private final AtomicLong clock = new AtomicLong();
  private final ProgressMeter meter = new ProgressMeter("j", new Counts(), clock::get);
  @AutoClose private final ScriptedReplicaSet from = new ScriptedReplicaSet();
  @AutoClose private final ScriptedReplicaSet to = new ScriptedReplicaSet();
  @AutoClose private final ClusterEnd source = from.connect("source");
  @AutoClose private final ClusterEnd destination = to.connect("destination");

  private RunWatch watch() {
    RunWatch watch = new RunWatch(source, destination, true, meter);
    watch.start();
    return watch;
  }

  private static boolean isOfBuilds(BsonDocument command) {
    return command.toJson().contains("$currentOp");
  }

  @Test
  void reportsSlowestIndexBuild() {
    to.script(
        command ->
            isOfBuilds(command)
                ? ScriptedReplicaSet.cursor(
                    BUILD.formatted("inserting keys from external sorter into index"),
                    BUILD.formatted("scanning collection"))
                : null);
    meter.phase(CopyPhase.INDEXES);
    meter.steps(1);
    meter.step("building", 1);
    clock.set(1_000_000_000);
    try (RunWatch watch = watch()) {
      await().atMost(TIMEOUT).until(() -> meter.progress().left() != null);
    }
    // One eighth of the work took one second, so the rest takes seven seconds.
    assertThat(meter.progress().left()).isEqualTo(Duration.ofSeconds(7));
  }

  @Test
  void reportsOplogWithoutRightForIndexBuilds() {
    to.script(
        command ->
            isOfBuilds(command)
                ? BsonDocument.parse("{ok: 0, code: 13, errmsg: 'not authorized on admin'}")
                : null);
    oplog(1_000);
    meter.phase(CopyPhase.INDEXES);
    try (RunWatch watch = watch()) {
      await()
          .atMost(TIMEOUT)
          .until(() -> to.seen("aggregate").size() > 1 && meter.progress().oplogLeft() != null);
    }
    assertThat(meter.progress().notes()).isEmpty();
  }

  /** Gives the source a full oplog that keeps changes for this number of seconds. */
  private void oplog(int seconds) {
    from.script(
        command ->
            !command.getString("$db").getValue().equals("local")
                ? null
                : command.containsKey("pipeline")
                    ? ScriptedReplicaSet.cursor("{size: 100, max: 100}")
                    : ScriptedReplicaSet.cursor(
                        "{ts: {$timestamp: {t: %d, i: 1}}}"
                            .formatted(
                                command.getDocument("sort").getInt32("$natural").getValue() > 0
                                    ? 5_000
                                    : 5_000 + seconds)));
  }

  @Test
  void notesOplogThatIsNearlyUsedUp() {
    oplog(1_000);
    meter.phase(CopyPhase.INCREMENTAL);
    meter.applied(0, new BsonTimestamp(5_000, 1), Duration.ofSeconds(700), null);
    try (RunWatch watch = watch()) {
      await().atMost(TIMEOUT).until(() -> meter.progress().oplogLeft() != null);
    }
    assertThat(meter.progress().oplogLeft()).isEqualTo(Duration.ofMinutes(5));
    assertThat(meter.progress().notes()).isEmpty();

    meter.applied(0, new BsonTimestamp(5_000, 1), Duration.ofSeconds(800), null);
    try (RunWatch watch = watch()) {
      await().atMost(TIMEOUT).until(() -> !meter.progress().notes().isEmpty());
    }
    assertThat(meter.progress().notes())
        .singleElement()
        .asString()
        .startsWith(
            "in about 200 s, at the current rate of writes, the oplog of the source will lose");
  }
}
