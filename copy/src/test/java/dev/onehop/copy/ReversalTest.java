package dev.onehop.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.progress.CopyException;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Finished copies from {@code old} to {@code now} that can't be reversed. Nothing is written to
 * {@code old}.
 */
class ReversalTest {
  private static final String JOBS = "onehop_copy.jobs";
  private static final String INCARNATION = "{$oid: '0123456789abcdef01234567'}";

  @AutoClose private final ScriptedReplicaSet now = new ScriptedReplicaSet();
  @AutoClose private final ScriptedReplicaSet old = new ScriptedReplicaSet();
  private BsonDocument job;

  @BeforeEach
  void describe() {
    job =
        BsonDocument.parse(
            """
            {_id: 'j', format: 1, phase: 'DONE', incarnation: %s, source: ['%s'], user: '',
             finishedThere: {$timestamp: {t: 9, i: 1}}, finishedAt: {$timestamp: {t: 8, i: 1}},
             mapping: {included: [], excluded: [], renamed: [['d', 'e']], filters: [],
                       operations: ['INSERT', 'UPDATE', 'DELETE', 'DDL']},
             transformed: false}
            """
                .formatted(INCARNATION, old.url().replaceFirst("mongodb://([^/]*)/.*", "rs/$1")));
    for (ScriptedReplicaSet each : List.of(now, old)) {
      each.script(
          command ->
              command.getFirstKey().equals("listDatabases")
                  ? BsonDocument.parse("{ok: 1, databases: []}")
                  : null);
    }
  }

  private ClusterCopy.Builder reversed() {
    return ClusterCopy.builder(now.url(), old.url()).job("j").reverse();
  }

  private void assertRefused(String why) {
    List<BsonDocument> before = old.stored(JOBS);
    try (ClusterCopy copy = reversed().build()) {
      assertThatThrownBy(copy::run).isInstanceOf(CopyException.class).hasMessageContaining(why);
    }
    assertThat(old.stored(JOBS)).isEqualTo(before);
  }

  @Test
  void rejectsMissingJob() {
    assertRefused(
        "the source has no job j: the source of a reverse copy is the destination of a finished"
            + " copy");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "{phase: 'INCREMENTAL'}                | the job j was not finished",
        "{finishedThere: null}                 | the job j was not finished",
        "{format: 99}                          | another version of this program",
        "{source: ['rs/another:27017']}        | the job j has copied another cluster",
        "{transformed: true}                   | left out or changed some documents",
        "{mapping: {filters: [['d.c', '{}']]}} | left out or changed some documents",
        "{mapping: {operations: ['INSERT']}}   | left out or changed some documents"
      })
  void rejectsUnsuitableJob(String change, String why) {
    BsonDocument.parse(change)
        .forEach(
            (field, value) -> {
              if (field.equals("mapping")) {
                job.getDocument(field).putAll(value.asDocument());
              } else {
                job.put(field, value);
              }
            });
    now.store(JOBS, job);
    assertRefused(why);
  }

  @Test
  void rejectsSourceWithoutAllChanges() {
    now.store(JOBS, job);
    now.script(
        command ->
            command.toJson().contains("$changeStream")
                ? BsonDocument.parse("{ok: 0, code: 286, errmsg: 'the resume point is lost'}")
                : command.getFirstKey().equals("listDatabases")
                    ? BsonDocument.parse("{ok: 1, databases: []}")
                    : null);
    assertRefused("the oplog of the source no longer has all changes since the job was finished");
    assertThat(now.seen("aggregate").get(0).toJson())
        .contains("\"startAtOperationTime\": {\"$timestamp\": {\"t\": 9, \"i\": 1}}");
  }

  @ParameterizedTest
  @CsvSource({
    "INCREMENTAL, 'the destination has the job j already, in phase INCREMENTAL: resume it'",
    "DONE, the job j was reversed already"
  })
  void rejectsSecondReversal(String phase, String why) {
    now.store(JOBS, job);
    now.script(
        command ->
            switch (command.getFirstKey()) {
              case "listDatabases" -> BsonDocument.parse("{ok: 1, databases: []}");
              case "aggregate" -> ScriptedReplicaSet.cursor();
              default -> null;
            });
    old.store(
        JOBS,
        BsonDocument.parse("{_id: 'j', format: 1, reverses: %s}".formatted(INCARNATION))
            .append("phase", new BsonString(phase)));
    assertRefused(why);
  }

  @Test
  void rejectsOwnSelection() {
    assertThatThrownBy(() -> reversed().include(List.of("d")).build())
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> reversed().begin(ClusterCopy.Begin.OVERWRITE).build())
        .isInstanceOf(IllegalArgumentException.class);
  }
}
