package dev.onehop.copy.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OplogWindowTest {
  private static @Nullable OplogWindow window(ScriptedReplicaSet.Script oplog)
      throws InterruptedException {
    try (ScriptedReplicaSet server = new ScriptedReplicaSet();
        ClusterEnd source = server.connect("source")) {
      server.script(
          command ->
              command.containsValue(BsonDocument.parse("{n: 'oplog.rs'}").get("n"))
                  ? oplog.apply(command)
                  : null);
      return OplogWindow.of(source);
    }
  }

  private static ScriptedReplicaSet.Script oplog(int first, int last, long size, long max) {
    return command -> {
      if (command.containsKey("aggregate")) {
        return ScriptedReplicaSet.cursor("{size: %d, max: %d}".formatted(size, max));
      }
      boolean oldest = command.getDocument("sort").getInt32("$natural").getValue() == 1;
      return ScriptedReplicaSet.cursor(
          "{ts: {$timestamp: {t: %d, i: 1}}}".formatted(oldest ? first : last));
    };
  }

  /**
   * A full oplog loses its oldest entries. An oplog that is not full grows at the same rate until
   * it is full.
   */
  @ParameterizedTest
  @CsvSource({
    "1000, 4600, 1000, 1000, 3600",
    "1000, 4600, 950, 1000, 3600",
    "1000, 1100, 100, 1000, 1000",
    "1000, 1000, 500, 1000, 2"
  })
  void estimatesWindowAtCurrentRate(int first, int last, long size, long max, long seconds)
      throws InterruptedException {
    assertThat(window(oplog(first, last, size, max)))
        .isEqualTo(new OplogWindow(ClusterEnd.ALONE, Duration.ofSeconds(seconds)));
  }

  @Test
  void unknownForEmptyOplog() throws InterruptedException {
    assertThat(window(command -> ScriptedReplicaSet.cursor())).isNull();
  }

  @Test
  void unknownWithoutReadPrivilege() throws InterruptedException {
    assertThat(window(command -> BsonDocument.parse("{ok: 0, code: 13, errmsg: 'not authorized'}")))
        .isNull();
  }
}
